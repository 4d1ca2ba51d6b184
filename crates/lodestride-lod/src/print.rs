//! How a LoD tensor reads: a type line and a tree of its values, or Fluid's own lines with `{:#}`.

use std::fmt;

use lodestride_array::{DType, NdArray};

use crate::tensor::LodTensor;

/// Sequences drawn, and numbers drawn in all, before the tree is cut short.
const TREE_LINES: usize = 100;
const TREE_NUMBERS: usize = 1000;
/// Rows wider than this are named, not listed.
const ROW_NUMBERS: usize = 32;

impl fmt::Display for LodTensor {
    /// `{}`: the type, as `2 * var * f32[1]`, and a tree with the rows of each sequence. `{:#}`: the lines that Fluid
    /// prints, with the LoD in offset form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write_fluid(f, self);
        }
        write!(f, "{}", self.type_text())?;
        if self.lod().is_none() {
            return write!(f, "\n{}", self.data());
        }
        write_tree(f, self)
    }
}

impl LodTensor {
    /// The type as one line: number of outermost sequences, one `var` for each level, dtype and shape of a row.
    ///
    /// ```
    /// use lodestride_lod::LodTensor;
    ///
    /// let x = LodTensor::from_lists(&[vec![vec![[1.0f32, 2.0]], vec![]], vec![]])?;
    /// assert_eq!(x.type_text().to_string(), "2 * var * var * f32[2]");
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    pub fn type_text(&self) -> impl fmt::Display + '_ {
        TypeText(self)
    }
}

struct TypeText<'a>(&'a LodTensor);

impl fmt::Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensor = self.0;
        match tensor.lod().levels().first() {
            Some(top) => write!(f, "{}", top.count())?,
            None => write!(f, "{}", tensor.rows())?,
        }
        for _ in tensor.lod().levels() {
            f.write_str(" * var")?;
        }
        write!(f, " * {}", tensor.dtype())?;
        match tensor.row_shape() {
            [] => Ok(()),
            shape => write!(f, "{shape:?}"),
        }
    }
}

/// A sequence still to be drawn.
struct Pending {
    level: usize,
    index: usize,
    last: bool,
    indent: String,
}

fn write_tree(f: &mut fmt::Formatter<'_>, tensor: &LodTensor) -> fmt::Result {
    let levels = tensor.lod().levels();
    let mut numbers = TREE_NUMBERS;
    // An explicit stack: a hostile LoD may have any number of levels.
    let mut stack = Vec::new();
    push(&mut stack, 0, 0..levels[0].count(), "");
    for _ in 0..TREE_LINES {
        let Some(item) = stack.pop() else {
            return Ok(());
        };
        let (branch, below) = if item.last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        write!(f, "\n{}{branch}{}:", item.indent, item.index)?;
        let children = levels[item.level].children(item.index);
        if item.level + 1 < levels.len() {
            push(
                &mut stack,
                item.level + 1,
                children,
                &format!("{}{below}", item.indent),
            );
        } else {
            write_rows(f, tensor, children, &mut numbers)?;
        }
    }
    if stack.is_empty() {
        Ok(())
    } else {
        f.write_str("\n…")
    }
}

/// Only as many children as can still be drawn are kept.
fn push(stack: &mut Vec<Pending>, level: usize, range: std::ops::Range<usize>, indent: &str) {
    let end = range.end;
    let drawn = range.start..end.min(range.start.saturating_add(TREE_LINES + 1));
    stack.extend(drawn.rev().map(|index| Pending {
        level,
        index,
        last: index + 1 == end,
        indent: indent.to_owned(),
    }));
}

/// The rows of one sequence, as far as `numbers` reaches.
fn write_rows(
    f: &mut fmt::Formatter<'_>,
    tensor: &LodTensor,
    range: std::ops::Range<usize>,
    numbers: &mut usize,
) -> fmt::Result {
    let width = crate::rows::row_width(tensor.data());
    if range.is_empty() {
        return f.write_str(" empty");
    }
    let cost = range.len().saturating_mul(width);
    if width > ROW_NUMBERS || cost > *numbers {
        return write!(f, " rows {}..{}", range.start, range.end);
    }
    *numbers -= cost;
    for row in range {
        // A row that cannot be read (its workspace is closed) is an error of printing like any other.
        let values = crate::rows::view(tensor.data(), row..row + 1).map_err(|_| fmt::Error)?;
        let values = number_texts(&values)?;
        match tensor.row_shape().len() {
            0 => write!(f, " {}", values.join(" "))?,
            _ => write!(f, " [{}]", values.join(" "))?,
        }
    }
    Ok(())
}

/// The numbers of an array in C order, each as short as its dtype allows.
fn number_texts(x: &NdArray) -> Result<Vec<String>, fmt::Error> {
    fn texts<T: lodestride_array::HostType + fmt::Display>(
        x: &NdArray,
        dtype: DType,
    ) -> Result<Vec<String>, fmt::Error> {
        let values = x
            .cast(dtype)
            .and_then(|x| x.to_vec::<T>())
            .map_err(|_| fmt::Error)?;
        Ok(values.iter().map(T::to_string).collect())
    }
    match x.dtype() {
        DType::Bool => texts::<bool>(x, DType::Bool),
        DType::F64 => texts::<f64>(x, DType::F64),
        DType::U64 => texts::<u64>(x, DType::U64),
        dtype if dtype.is_float() => texts::<f32>(x, DType::F32),
        _ => texts::<i64>(x, DType::I64),
    }
}

/// Fluid's own lines, to the letter; offsets, the dtype's C++ name, numbers as C++ streams print them.
fn write_fluid(f: &mut fmt::Formatter<'_>, tensor: &LodTensor) -> fmt::Result {
    if !tensor.lod().is_none() {
        f.write_str("\tlod: {")?;
        for level in tensor.lod().levels() {
            write!(f, "{{{}}}", joined(level.offsets(), ", "))?;
        }
        f.write_str("}\n")?;
    }
    writeln!(f, "\tdim: {}", joined(tensor.shape(), ", "))?;
    writeln!(f, "\tlayout: NCHW\n\tdtype: {}", cpp_name(tensor.dtype()))?;
    let values = match tensor.dtype() {
        DType::Bool => {
            let flags = tensor.data().to_vec::<bool>().map_err(|_| fmt::Error)?;
            flags
                .into_iter()
                .map(|flag| u8::from(flag).to_string())
                .collect()
        }
        dtype if dtype.is_float() => {
            let values = tensor.data().to_f64_vec().map_err(|_| fmt::Error)?;
            values.into_iter().map(general).collect()
        }
        _ => number_texts(tensor.data())?,
    };
    writeln!(f, "\tdata: [{}]", values.join(" "))
}

fn joined(numbers: &[usize], separator: &str) -> String {
    let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
    texts.join(separator)
}

fn cpp_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "uint8_t",
        DType::I8 => "int8_t",
        DType::U16 => "uint16_t",
        DType::I16 => "int16_t",
        DType::U32 => "uint32_t",
        DType::I32 => "int",
        DType::U64 => "uint64_t",
        DType::I64 => "int64_t",
        DType::F16 => "::paddle::platform::float16",
        DType::BF16 => "::paddle::platform::bfloat16",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

/// A float with six significant digits, as C's `%g`.
fn general(x: f64) -> String {
    if !x.is_finite() {
        return x.to_string().to_lowercase();
    }
    let scientific = format!("{x:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => digits.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{x:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_c_does() {
        let cases = [
            (1.100000023841858, "1.1"),
            (0.0, "0"),
            (-0.5, "-0.5"),
            (1234567.0, "1.23457e+06"),
            (123456.0, "123456"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (x, text) in cases {
            assert_eq!(general(x), text);
        }
    }
}
