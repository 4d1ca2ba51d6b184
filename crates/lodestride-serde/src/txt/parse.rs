//! Reading the text form: the members in any order, then the numbers, whose brackets must fit the shape.
//!
//! One pass without recursion. ND4J leaves out brackets around axes of size 1 in some of its versions; they may be there or not.

use lodestride_array::{DType, NdArray, Order, scope_out, with_dtype};
use memchr::{memchr2, memchr3};

use super::finished_axes;
use crate::error::{Result, SerdeError, TextProblem};
use crate::source::{Elements, Endian};
use crate::text::{Decimal, array_of, fault, quoted, unexpected};

/// The array of a text.
pub(super) fn array(text: &str) -> Result<NdArray> {
    let members = Scanner { text, at: 0 }.members()?;
    let shape = members.shape;
    let order = if shape.len() > 1 {
        members.order
    } else {
        Order::C
    };
    let elements = Elements::new(members.dtype, &shape, Order::C, Endian::NATIVE)?;
    let scanner = Scanner {
        text,
        at: members.data,
    };
    let read = || with_dtype!(members.dtype, T => scanner.numbers::<T>(&elements));
    if order == Order::C {
        return read();
    }
    // The copy in C order is not for the caller's workspace.
    let rows = scope_out(read)?;
    Ok(rows.dup_order(Order::F)?)
}

/// What the text says about the numbers, and where they begin.
struct Members {
    order: Order,
    shape: Vec<u64>,
    dtype: DType,
    data: usize,
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn members(mut self) -> Result<Members> {
        let (mut from, mut order, mut shape, mut data) = (None, Order::C, None, None);
        // The 18 decimals of ND4J's own files need f64.
        let mut dtype = DType::F64;
        self.take_bom();
        self.expect('{', "`{`")?;
        while !self.take('}') {
            self.space();
            let start = self.at;
            match self.key()? {
                "filefrom" => from = Some(self.source()?),
                "ordering" => order = self.order()?,
                "shape" => shape = Some(self.sizes()?),
                "dtype" => dtype = self.dtype()?,
                "data" => data = Some(self.skip_numbers()?),
                _ => return Err(unexpected(self.text, start, KEYS)),
            }
            self.take(',');
        }
        self.space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the text"));
        }
        let missing = |expected| unexpected(self.text, self.text.len(), expected);
        from.ok_or_else(|| missing("the member \"filefrom\""))?;
        Ok(Members {
            order,
            shape: shape.ok_or_else(|| missing("the member \"shape\""))?,
            dtype,
            data: data.ok_or_else(|| missing("the member \"data\""))?,
        })
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take_bom(&mut self) {
        self.at += self.text.len() - self.text.trim_start_matches('\u{feff}').len();
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: char, expected: &'static str) -> Result<()> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn unexpected(&self, expected: &'static str) -> SerdeError {
        unexpected(self.text, self.at, expected)
    }

    fn string(&mut self, expected: &'static str) -> Result<&'t str> {
        self.expect('"', expected)?;
        let Some((string, _)) = self.rest().split_once('"') else {
            return Err(self.unexpected("a string that ends"));
        };
        self.at += string.len() + 1;
        Ok(string)
    }

    /// A key and its colon, which the first versions of ND4J wrote inside the quotes.
    fn key(&mut self) -> Result<&'t str> {
        let key = self.string(KEYS)?;
        if let Some(key) = key.strip_suffix(':') {
            return Ok(key);
        }
        self.expect(':', "`:`")?;
        Ok(key)
    }

    fn source(&mut self) -> Result<()> {
        const EXPECTED: &str = "\"dl4j\": text of ND4J or of this crate";
        self.space();
        let start = self.at;
        match self.string(EXPECTED)? {
            "dl4j" => Ok(()),
            _ => Err(unexpected(self.text, start, EXPECTED)),
        }
    }

    fn order(&mut self) -> Result<Order> {
        const EXPECTED: &str = "\"c\" or \"f\"";
        self.space();
        let start = self.at;
        match self.string(EXPECTED)? {
            "c" => Ok(Order::C),
            "f" => Ok(Order::F),
            _ => Err(unexpected(self.text, start, EXPECTED)),
        }
    }

    fn dtype(&mut self) -> Result<DType> {
        const EXPECTED: &str = "the name of a dtype, such as \"f32\"";
        self.space();
        let start = self.at;
        let name = self.string(EXPECTED)?;
        name.parse()
            .map_err(|_| unexpected(self.text, start, EXPECTED))
    }

    fn sizes(&mut self) -> Result<Vec<u64>> {
        self.expect('[', "`[`")?;
        let mut sizes = Vec::new();
        while !self.take(']') {
            let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
            let size = self.rest()[..digits].parse();
            sizes.push(size.map_err(|_| self.unexpected("a size that fits 64 bits"))?);
            self.at += digits;
            if !self.take(',') {
                self.expect(']', "`,` or `]`")?;
                break;
            }
        }
        Ok(sizes)
    }

    /// Steps over the numbers, to the end of their brackets; tells where they begin.
    fn skip_numbers(&mut self) -> Result<usize> {
        self.space();
        let start = self.at;
        let mut depth = 0usize;
        let rest = self.rest().as_bytes();
        let mut place = 0;
        while let Some(&byte) = rest.get(place) {
            match byte {
                b'[' => depth += 1,
                b']' if depth <= 1 => {
                    self.at += place + 1;
                    return Ok(start);
                }
                b']' => depth -= 1,
                b',' if depth > 0 => place += unbroken(&rest[place + 1..]),
                // The end of a number without brackets.
                b',' | b'}' | b'\n' if depth == 0 => {
                    self.at += place;
                    return Ok(start);
                }
                b'"' | b'{' | b'}' => return Err(unexpected(self.text, start + place, NUMBER)),
                _ => {}
            }
            place += 1;
        }
        Err(unexpected(self.text, self.text.len(), "`]`"))
    }

    /// The numbers, of which each must stand in the brackets that its place in the shape asks for.
    fn numbers<T: Decimal>(mut self, elements: &Elements) -> Result<NdArray> {
        let shape = elements.layout.shape();
        let count = elements.layout.elements();
        let mut values: Vec<T> = Vec::new();
        let mut outer = None;
        loop {
            let before = self.at;
            let between = self.between();
            let plain = self.plain_number::<T>();
            let end = plain.map_or_else(|| self.number_end(), |(_, end)| end);
            if end == self.at {
                if outer.is_some_and(|outer| between.closed != outer || between.opened > 0) {
                    return Err(unexpected(
                        self.text,
                        before,
                        "a closing bracket for each open one",
                    ));
                }
                break;
            }
            match outer {
                None => outer = Some(self.check_first(between, shape)?),
                Some(_) => self.check_next(between, shape, values.len(), before)?,
            }
            let token = &self.text[self.at..end];
            let Some(value) = plain.map(|(value, _)| value).or_else(|| T::parse(token)) else {
                let (text, dtype) = (quoted(token), T::DTYPE);
                return Err(fault(
                    self.text,
                    self.at,
                    TextProblem::Number { text, dtype },
                ));
            };
            if values.len() == count {
                return Err(self.count(shape, count + 1));
            }
            values.push(value);
            self.at = end;
        }
        if values.len() != count {
            return Err(self.count(shape, values.len()));
        }
        array_of(values, elements.layout.clone())
    }

    fn count(&self, shape: &[usize], found: usize) -> SerdeError {
        let shape = shape.to_vec();
        fault(self.text, self.at, TextProblem::Count { shape, found })
    }

    /// Steps over brackets, commas and space.
    fn between(&mut self) -> Between {
        let mut between = Between::default();
        // What stands between most of them.
        if self.rest().starts_with(", ") {
            between.commas = 1;
            self.at += 2;
        }
        for byte in self.rest().bytes() {
            match byte {
                b'[' => between.opened += 1,
                b']' => between.closed += 1,
                b',' => between.commas += 1,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => break,
            }
            self.at += 1;
        }
        between
    }

    /// The number that begins here and where it ends, when it is read at a glance.
    #[inline]
    fn plain_number<T: Decimal>(&self) -> Option<(T, usize)> {
        let (value, length) = T::scan(self.rest())?;
        let end = self.at + length;
        let next = *self.text.as_bytes().get(end)?;
        ENDS.contains(&next).then_some((value, end))
    }

    fn number_end(&self) -> usize {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| ENDS.contains(&byte));
        let length = length.unwrap_or(rest.len());
        self.at + rest[..length].trim_end().len()
    }

    fn check_first(&self, between: Between, shape: &[usize]) -> Result<usize> {
        let needed = shape.iter().filter(|&&size| size != 1).count();
        let fits = (needed..=shape.len()).contains(&between.opened);
        if fits && between.closed == 0 && between.commas == 0 {
            return Ok(between.opened);
        }
        Err(self.unexpected("a first number inside one bracket for each axis"))
    }

    fn check_next(
        &self,
        between: Between,
        shape: &[usize],
        count: usize,
        before: usize,
    ) -> Result<()> {
        let most = finished_axes(shape, count);
        let axes = &shape[shape.len() - most..];
        let needed = axes.iter().filter(|&&size| size != 1).count();
        let fits = (needed..=most).contains(&between.closed);
        if fits && between.closed == between.opened && between.commas == 1 {
            return Ok(());
        }
        Err(unexpected(
            self.text,
            before,
            "a comma, and brackets where a row of the shape ends",
        ))
    }
}

/// What no number holds.
const ENDS: [u8; 9] = *b"[],{}\" \t\n";

/// How far a text goes on with numbers between the same brackets.
fn unbroken(text: &[u8]) -> usize {
    let to_bracket = memchr3(b'[', b']', b'"', text).unwrap_or(text.len());
    memchr2(b'{', b'}', &text[..to_bracket]).unwrap_or(to_bracket)
}

/// What stands between two numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Between {
    opened: usize,
    closed: usize,
    commas: usize,
}

const KEYS: &str = "\"filefrom\", \"ordering\", \"shape\", \"dtype\" or \"data\"";

const NUMBER: &str = "a number, `,`, `[` or `]`";
