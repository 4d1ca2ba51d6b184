//! A table from its text: lines, header, rows of equal length, numbers.

use lodestride_array::{NdArray, Order, Scalar, with_dtype};

use super::Options;
use super::split::{Field, Fields, starts};
use crate::error::{Result, SerdeError, TextProblem};
use crate::source::{Elements, Endian};
use crate::text::{Decimal, array_of, fault, quoted};

impl Options {
    /// The names of the columns and the matrix below them.
    pub(super) fn parse(&self, text: &str) -> Result<(Vec<String>, NdArray)> {
        self.delimiter.checked()?;
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = Lines { text, at: 0 };
        for _ in 0..self.skip {
            lines.next();
        }
        let mut lines = lines.filter(|(_, line)| !self.is_passed_over(line));
        let mut names = Vec::new();
        let mut width = None;
        if self.header
            && let Some((at, line)) = lines.next()
        {
            let fields: Vec<_> = Fields::new(line, &self.delimiter).collect();
            width = Some(fields.len());
            names = self
                .chosen(text, at, fields)?
                .map(|field| field.text.into_owned())
                .collect();
        }
        let dtype = self.dtype.unwrap_or_else(lodestride_array::DType::default);
        let array = with_dtype!(dtype, T => self.rows::<T>(text, lines, width))?;
        Ok((names, array))
    }

    fn is_passed_over(&self, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\r']);
        // A line of tabs may be a row of empty fields.
        line.is_empty()
            || (self.comment.as_ref()).is_some_and(|mark| line.starts_with(mark.as_str()))
    }

    /// The fields of a line that were asked for, in that order.
    fn chosen<'l>(
        &self,
        text: &str,
        at: usize,
        fields: Vec<Field<'l>>,
    ) -> Result<impl Iterator<Item = Field<'l>>> {
        let Some(columns) = &self.columns else {
            return Ok(fields.into_iter());
        };
        let found = fields.len();
        let chosen: Option<Vec<_>> = columns
            .iter()
            .map(|&column| fields.get(column).cloned())
            .collect();
        let Some(chosen) = chosen else {
            let expected = columns
                .iter()
                .max()
                .map_or(0, |&last| last.saturating_add(1));
            return Err(fault(text, at, TextProblem::Fields { expected, found }));
        };
        Ok(chosen.into_iter())
    }

    fn rows<'t, T: Decimal>(
        &self,
        text: &'t str,
        lines: impl Iterator<Item = (usize, &'t str)>,
        mut width: Option<usize>,
    ) -> Result<NdArray> {
        let mut values: Vec<T> = Vec::new();
        let mut rows = 0u64;
        let mut row = Row {
            options: self,
            text,
            plain: self.is_plain(),
            starts: Vec::new(),
        };
        for (at, line) in lines {
            let found = row.read(at, line, &mut values)?;
            let expected = *width.get_or_insert(found);
            if expected != found {
                return Err(fault(text, at, TextProblem::Fields { expected, found }));
            }
            rows += 1;
        }
        let columns = self.columns.as_ref().map_or(width.unwrap_or(0), Vec::len);
        let shape = [rows, columns as u64];
        let elements = Elements::new(T::DTYPE, &shape, Order::C, Endian::NATIVE)?;
        array_of(values, elements.layout)
    }

    /// Whether what looks like a number always is one: it holds no delimiter and is not the word for what is missing.
    fn is_plain(&self) -> bool {
        let is_word =
            self.missing.is_some() && self.missing_word.contains(|c: char| c.is_ascii_digit());
        self.delimiter.ends_numbers() && !is_word
    }

    fn number<T: Decimal>(&self, text: &str, line: usize, field: &Field<'_>) -> Result<T> {
        let missing = field.text.is_empty() || field.text == self.missing_word.as_str();
        if let Some(value) = self.missing.filter(|_| missing) {
            return Ok(Scalar::Float(value).cast());
        }
        T::parse(field.text.trim())
            .ok_or_else(|| bad_number::<T>(text, line + field.at, &field.text))
    }
}

/// Reads one row after the other.
struct Row<'o, 't> {
    options: &'o Options,
    text: &'t str,
    /// See [`Options::is_plain`].
    plain: bool,
    /// Where the fields of a line begin, when some of them are chosen.
    starts: Vec<usize>,
}

impl Row<'_, '_> {
    /// Appends the numbers of a line, and counts its fields.
    fn read<T: Decimal>(&mut self, at: usize, line: &str, values: &mut Vec<T>) -> Result<usize> {
        let delimiter = &self.options.delimiter;
        let Some(columns) = &self.options.columns else {
            let mut fields = Fields::new(line, delimiter);
            let mut found = 0;
            while !fields.are_done() {
                self.take(at, &mut fields, values)?;
                found += 1;
            }
            return Ok(found);
        };
        if starts(line, delimiter, &mut self.starts)
            && columns.iter().all(|&column| column < self.starts.len())
        {
            for &column in columns {
                let mut fields = Fields::new(line, delimiter).beginning_at(self.starts[column]);
                self.take(at, &mut fields, values)?;
            }
            return Ok(self.starts.len());
        }
        let fields: Vec<_> = Fields::new(line, delimiter).collect();
        let found = fields.len();
        for field in self.options.chosen(self.text, at, fields)? {
            values.push(self.options.number(self.text, at, &field)?);
        }
        Ok(found)
    }

    /// Appends the number of the next field. Most are read while their end is looked for. A call for each would be a sixth of the time.
    #[inline(always)]
    fn take<T: Decimal>(
        &self,
        at: usize,
        fields: &mut Fields<'_, '_>,
        values: &mut Vec<T>,
    ) -> Result<()> {
        if self.plain
            && let Some(number) = fields.number()
        {
            values.push(number);
        } else if let Some(field) = fields.next() {
            values.push(self.options.number(self.text, at, &field)?);
        }
        Ok(())
    }
}

#[cold]
fn bad_number<T: Decimal>(text: &str, at: usize, field: &str) -> SerdeError {
    let (field, dtype) = (quoted(field), T::DTYPE);
    fault(text, at, TextProblem::Number { text: field, dtype })
}

/// The lines of a text with the place where each begins.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let start = self.at;
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at = (start + line.len() + 1).min(self.text.len());
        Some((start, line.strip_suffix('\r').unwrap_or(line)))
    }
}
