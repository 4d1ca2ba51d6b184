//! Cutting a line into its fields at a string or at runs of blanks, with quotes.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use crate::error::{Result, SerdeErrorKind};
use crate::text::Decimal;

/// What stands between two fields.
#[derive(Clone, Debug)]
pub(super) enum Delimiter {
    Text(String),
    Blanks,
}

impl Delimiter {
    /// Whether it cannot begin inside a number.
    pub(super) fn ends_numbers(&self) -> bool {
        match self {
            Self::Text(text) => {
                !text.starts_with(|c: char| c.is_ascii_digit() || "+-.eE".contains(c))
            }
            Self::Blanks => true,
        }
    }

    /// The string that is written between fields, when fields can be told apart by it.
    pub(super) fn checked(&self) -> Result<&str> {
        let Self::Text(text) = self else {
            return Ok(" ");
        };
        let reason = if text.is_empty() {
            "it is empty; call `blanks()` for fields between spaces"
        } else if text.contains(['\n', '\r']) {
            "lines end there"
        } else if text.contains('"') {
            "quotes stand around fields"
        } else {
            return Ok(text);
        };
        Err(SerdeErrorKind::BadDelimiter {
            delimiter: text.clone(),
            reason,
        }
        .into())
    }
}

/// A name as it is written: in quotes when a reader would take it for something else.
pub(super) fn quote(name: &str, between: &str) -> String {
    let plain = !name.is_empty()
        && name.trim() == name
        && !name.contains(['"', '\n', '\r'])
        && !name.contains(between.trim())
        && !name.contains(between);
    if plain {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A field without the blanks and quotes around it, and its place in the line.
#[derive(Clone, Debug)]
pub(super) struct Field<'l> {
    pub(super) at: usize,
    pub(super) text: Cow<'l, str>,
}

/// The fields of a line.
pub(super) struct Fields<'l, 'd> {
    line: &'l str,
    delimiter: &'d Delimiter,
    /// Whether blanks may stand around a field: not where a blank separates it.
    padded: bool,
    /// Where the next field begins; `None` after the last one.
    next: Option<usize>,
}

const BLANK: [char; 2] = [' ', '\t'];

impl<'l, 'd> Fields<'l, 'd> {
    pub(super) fn new(line: &'l str, delimiter: &'d Delimiter) -> Self {
        Self {
            line,
            delimiter,
            // A tab that separates fields is not a blank around them.
            padded: !matches!(delimiter, Delimiter::Text(text) if text.starts_with(BLANK)),
            next: Some(0),
        }
    }

    /// The fields from one on that begins at a place of the line.
    pub(super) fn beginning_at(mut self, place: usize) -> Self {
        self.next = Some(place);
        self
    }

    /// Whether there is no next field.
    pub(super) fn are_done(&self) -> bool {
        self.next.is_none()
    }

    /// Takes the next field when it is a plain number; where it is not, nothing is taken.
    #[inline(always)]
    pub(super) fn number<T: Decimal>(&mut self) -> Option<T> {
        let start = self.skip_blanks(self.next?);
        let (value, length) = T::scan(&self.line[start..])?;
        let number_ends = start + length;
        let end = self.skip_blanks(number_ends);
        let rest = &self.line.as_bytes()[end..];
        self.next = match self.delimiter {
            _ if rest.is_empty() => None,
            Delimiter::Text(text) if rest.starts_with(text.as_bytes()) => Some(end + text.len()),
            Delimiter::Blanks if end > number_ends => Some(end),
            _ => return None,
        };
        Some(value)
    }

    /// The place behind the blanks that may stand here.
    #[inline]
    fn skip_blanks(&self, at: usize) -> usize {
        if !self.padded {
            return at;
        }
        let blanks = self.line.as_bytes()[at..].iter();
        at + blanks
            .take_while(|&&byte| byte == b' ' || byte == b'\t')
            .count()
    }

    /// Length of the field that begins here, and of what separates it from the next one, if there is a next one.
    fn cut(&self, rest: &str) -> (usize, Option<usize>) {
        let found = match self.delimiter {
            Delimiter::Text(text) => rest.find(text.as_str()).map(|at| (at, text.len())),
            Delimiter::Blanks => rest.find(BLANK).map(|at| {
                let after = &rest[at..];
                (at, after.len() - after.trim_start_matches(BLANK).len())
            }),
        };
        match found {
            // Blanks at the end of a line are between nothing.
            Some((at, length))
                if matches!(self.delimiter, Delimiter::Blanks) && at + length == rest.len() =>
            {
                (at, None)
            }
            Some((at, length)) => (at, Some(length)),
            None => (rest.len(), None),
        }
    }
}

impl<'l> Iterator for Fields<'l, '_> {
    type Item = Field<'l>;

    fn next(&mut self) -> Option<Field<'l>> {
        let next = self.next.take()?;
        let at = self.skip_blanks(next);
        let rest = &self.line[at..];
        let (text, used) = match rest.strip_prefix('"').and_then(unquoted) {
            Some((text, inside)) => (text, inside + 1),
            None => (Cow::Borrowed(""), 0),
        };
        let (length, between) = self.cut(&rest[used..]);
        self.next = between.map(|between| at + used + length + between);
        let text = if used > 0 && rest[used..used + length].trim().is_empty() {
            text
        } else {
            Cow::Borrowed(rest[..used + length].trim_matches(BLANK))
        };
        Some(Field { at, text })
    }
}

/// Where the fields of a line begin, when that is seen without looking into them: they are between strings, and none is in quotes.
pub(super) fn starts(line: &str, delimiter: &Delimiter, starts: &mut Vec<usize>) -> bool {
    let Delimiter::Text(text) = delimiter else {
        return false;
    };
    if memchr(b'"', line.as_bytes()).is_some() {
        return false;
    }
    starts.clear();
    starts.push(0);
    match *text.as_bytes() {
        [byte] => starts.extend(memchr_iter(byte, line.as_bytes()).map(|at| at + 1)),
        _ => starts.extend(
            line.match_indices(text.as_str())
                .map(|(at, _)| at + text.len()),
        ),
    }
    true
}

/// What stands before the closing quote, and its length with that quote.
fn unquoted(rest: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut from = 0;
    loop {
        let quote = from + rest[from..].find('"')?;
        if !rest[quote + 1..].starts_with('"') {
            let inside = &rest[..quote];
            let text = if inside.contains('"') {
                Cow::Owned(inside.replace("\"\"", "\""))
            } else {
                Cow::Borrowed(inside)
            };
            return Some((text, quote + 1));
        }
        from = quote + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fall_into_fields() {
        let text = |delimiter: &str| Delimiter::Text(delimiter.to_owned());
        let cases: Vec<(Delimiter, &str, Vec<&str>)> = vec![
            (text(","), "1,2,3", vec!["1", "2", "3"]),
            (text(","), " 1 ,\t2 , 3 ", vec!["1", "2", "3"]),
            (text(","), "1,,3,", vec!["1", "", "3", ""]),
            (text(", "), "1, 2, 3", vec!["1", "2", "3"]),
            (text(", "), "1,2", vec!["1,2"]),
            (text("\t"), "1\t\t3", vec!["1", "", "3"]),
            (text("::"), "a::b:c", vec!["a", "b:c"]),
            (Delimiter::Blanks, "  1   2\t 3  ", vec!["1", "2", "3"]),
            (
                text(","),
                "\"a,b\",\"say \"\"x\"\"\" , \"\"",
                vec!["a,b", "say \"x\"", ""],
            ),
            (text(","), "\"open,2", vec!["\"open", "2"]),
            (text(","), "\"a\"b,2", vec!["\"a\"b", "2"]),
            (text(";"), "\u{e9};\u{2212}1", vec!["\u{e9}", "\u{2212}1"]),
        ];
        for (delimiter, line, expected) in cases {
            let found: Vec<_> = Fields::new(line, &delimiter).map(|f| f.text).collect();
            assert_eq!(found, expected, "{line:?} at {delimiter:?}");
        }
    }

    #[test]
    fn names_are_quoted_where_they_must_be() {
        let cases = [
            ("a", "a"),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("", "\"\""),
            ("\"", "\"\"\"\""),
        ];
        for (name, expected) in cases {
            assert_eq!(quote(name, ", "), expected);
        }
    }
}
