//! The header of an npy file: magic, version, length, and a Python dictionary as text.
//!
//! The text is read by a small scanner that goes through it once, without recursion: parsers of general Python literals can be
//! made to overflow the stack, to try exponentially many readings, or to overflow while they multiply the shape.

use lodestride_array::{NdArray, Order};

use super::descr;
use crate::error::{Format, Result, SerdeError, SerdeErrorKind, TypeReason};
use crate::sink::order_in_file;
use crate::source::{Elements, Source};

pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header text that is read. NumPy itself stops at 10,000 bytes unless told otherwise.
const MAX_TEXT: usize = 64 << 10;

/// The block of elements starts at a multiple of this, for memory maps.
const ALIGNMENT: usize = 64;

/// The whole header of an array in version 1.0, padded so that the elements start aligned.
pub(crate) fn text(descr: &str, array: &NdArray) -> Vec<u8> {
    let fortran = match order_in_file(array) {
        Order::C => "False",
        Order::F => "True",
    };
    let mut shape = String::new();
    for (axis, size) in array.shape().iter().enumerate() {
        let lead = if axis == 0 { "" } else { " " };
        shape += &format!("{lead}{size},");
    }
    if array.rank() > 1 {
        shape.pop();
    }
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape}), }}");
    let fixed = MAGIC.len() + 4;
    let end = (fixed + text.len() + 1).next_multiple_of(ALIGNMENT);
    let padding = end - fixed - text.len() - 1;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut header = Vec::with_capacity(end);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&[1, 0]);
    // 64 axes of 20 digits each stay far below the 65,535 bytes of version 1.
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    header.extend_from_slice(&length.to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// Reads a header and leaves the source at the first element.
pub(crate) fn read(source: &mut Source<'_>) -> Result<Elements> {
    let magic = source
        .bytes::<6>("the magic number of npy")
        .map_err(|error| {
            // An empty or tiny file is truncated; what there is of it may still tell a wrong kind of file.
            error.at_byte(0)
        })?;
    if &magic != MAGIC {
        let found = magic.to_vec();
        return Err(SerdeError::from(SerdeErrorKind::Magic {
            format: Format::Npy,
            found,
        })
        .at_byte(0));
    }
    let [major, minor] = source.bytes("the version")?;
    let length = match (major, minor) {
        (1, 0) => usize::from(u16::from_le_bytes(source.bytes("the header length")?)),
        (2 | 3, 0) => {
            let length = u32::from_le_bytes(source.bytes("the header length")?);
            usize::try_from(length).unwrap_or(usize::MAX)
        }
        found => {
            let format = Format::Npy;
            return Err(SerdeError::from(SerdeErrorKind::Version { format, found }).at_byte(6));
        }
    };
    if length > MAX_TEXT {
        return Err(source.fault(SerdeErrorKind::HeaderTooLong {
            found: length as u64,
            limit: MAX_TEXT as u64,
        }));
    }
    let start = source.position();
    let text = source.vec(length, "the header")?;
    Scanner { text: &text, at: 0 }
        .dictionary()
        .map_err(|(kind, at)| SerdeError::from(kind).at_byte(start + at as u64))?
        .elements()
        .map_err(|error| error.at_byte(start))
}

/// What the dictionary says, not yet checked against what memory can hold.
#[derive(Debug, Default)]
struct Entries {
    descr: Option<String>,
    fortran: Option<bool>,
    shape: Option<Vec<u64>>,
}

impl Entries {
    fn elements(self) -> Result<Elements> {
        let missing = |expected| SerdeErrorKind::HeaderSyntax {
            expected,
            found: "the end of the dictionary".to_owned(),
        };
        let descr = self.descr.ok_or_else(|| missing("the key 'descr'"))?;
        let fortran = self
            .fortran
            .ok_or_else(|| missing("the key 'fortran_order'"))?;
        let shape = self.shape.ok_or_else(|| missing("the key 'shape'"))?;
        let (dtype, endian) = descr::parse(&descr)?;
        let order = if fortran && shape.len() > 1 {
            Order::F
        } else {
            Order::C
        };
        Elements::new(dtype, &shape, order, endian)
    }
}

/// An error and its place in the text.
type Scanned<T> = std::result::Result<T, (SerdeErrorKind, usize)>;

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    fn dictionary(mut self) -> Scanned<Entries> {
        let mut entries = Entries::default();
        self.expect(b'{', "`{`")?;
        while !self.take(b'}') {
            let key = self.string("a quoted key or `}`")?;
            self.expect(b':', "`:`")?;
            self.space();
            let place = self.at;
            let repeated = match key.as_str() {
                "descr" => entries.descr.replace(self.type_string()?).is_some(),
                "fortran_order" => entries.fortran.replace(self.boolean()?).is_some(),
                "shape" => entries.shape.replace(self.sizes()?).is_some(),
                _ => return Err(self.unexpected_at("'descr', 'fortran_order' or 'shape'", place)),
            };
            if repeated {
                return Err(self.unexpected_at("every key only once", place));
            }
            if !self.take(b',') {
                self.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        self.space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the header"));
        }
        Ok(entries)
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over a character if it comes next.
    fn take(&mut self, wanted: u8) -> bool {
        self.space();
        let found = self.text.get(self.at) == Some(&wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: u8, expected: &'static str) -> Scanned<()> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn unexpected(&self, expected: &'static str) -> (SerdeErrorKind, usize) {
        self.unexpected_at(expected, self.at)
    }

    fn unexpected_at(&self, expected: &'static str, at: usize) -> (SerdeErrorKind, usize) {
        let rest = &self.text[at.min(self.text.len())..];
        let found = if rest.is_empty() {
            "the end of the header".to_owned()
        } else {
            format!("\"{}\"", rest[..rest.len().min(24)].escape_ascii())
        };
        (SerdeErrorKind::HeaderSyntax { expected, found }, at)
    }

    /// A quoted string. No name that means anything here has an escape, so none is read.
    fn string(&mut self, expected: &'static str) -> Scanned<String> {
        self.space();
        let Some(&quote @ (b'\'' | b'"')) = self.text.get(self.at) else {
            return Err(self.unexpected(expected));
        };
        let rest = &self.text[self.at + 1..];
        let end = rest.iter().position(|&c| c == quote || c == b'\\');
        match end {
            Some(end) if rest[end] == quote => {
                self.at += end + 2;
                Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
            }
            _ => Err(self.unexpected("a quoted string")),
        }
    }

    fn type_string(&mut self) -> Scanned<String> {
        if self.text.get(self.at) != Some(&b'[') {
            return self.string("a type string");
        }
        // A list of fields, which no dtype corresponds to: its beginning is all that the error needs.
        let rest = &self.text[self.at..];
        let shown = &rest[..rest.len().min(60)];
        let dots = if shown.len() < rest.len() { ".." } else { "" };
        let kind = SerdeErrorKind::UnsupportedType {
            descr: format!("{}{dots}", shown.trim_ascii_end().escape_ascii()),
            reason: TypeReason::Structured,
        };
        Err((kind, self.at))
    }

    fn boolean(&mut self) -> Scanned<bool> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn sizes(&mut self) -> Scanned<Vec<u64>> {
        self.expect(b'(', "`(`")?;
        let mut sizes = Vec::new();
        while !self.take(b')') {
            sizes.push(self.number()?);
            if !self.take(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(sizes)
    }

    fn number(&mut self) -> Scanned<u64> {
        self.space();
        let start = self.at;
        let mut number = Some(0u64);
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            number = number
                .and_then(|n| n.checked_mul(10))
                .and_then(|n| n.checked_add(u64::from(digit - b'0')));
            self.at += 1;
        }
        if self.at == start {
            return Err(self.unexpected("a size"));
        }
        // NumPy under Python 2 wrote long integers as `3L`.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        number.ok_or_else(|| self.unexpected_at("a size that fits 64 bits", start))
    }
}
