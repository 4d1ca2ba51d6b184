//! Cutting a line into its fields at a string or at runs of blanks, with quotes.

use std::borrow::Cow;

use crate::error::{Result, SerdeErrorKind};

/// What stands between two fields.
#[derive(Clone, Debug)]
pub(super) enum Delimiter {
    Text(String),
    Blanks,
}

impl Delimiter {
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
    /// Where the next field begins; `None` after the last one.
    next: Option<usize>,
}

const BLANK: [char; 2] = [' ', '\t'];

impl<'l, 'd> Fields<'l, 'd> {
    pub(super) fn new(line: &'l str, delimiter: &'d Delimiter) -> Self {
        Self {
            line,
            delimiter,
            next: Some(0),
        }
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
        let mut at = self.next.take()?;
        let blanks = match self.delimiter {
            // A tab that separates fields is not a blank around them.
            Delimiter::Text(text) if text.starts_with(BLANK) => 0,
            _ => {
                let rest = &self.line[at..];
                rest.len() - rest.trim_start_matches(BLANK).len()
            }
        };
        at += blanks;
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
