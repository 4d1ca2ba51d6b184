//! The dtype of a result, as a table. Nothing lives here but its documentation and the test that keeps it true.
//!
//! Arrays promote to the smallest dtype that holds the values of both, as in NumPy 2; `bf16` with `f16` is `f32`:
//!
//! ```text
//!      | bool u8   i8   u16  i16  u32  i32  u64  i64  f16  bf16 f32  f64
//! bool | bool u8   i8   u16  i16  u32  i32  u64  i64  f16  bf16 f32  f64
//! u8   | u8   u8   i16  u16  i16  u32  i32  u64  i64  f16  bf16 f32  f64
//! i8   | i8   i16  i8   i32  i16  i64  i32  f64  i64  f16  bf16 f32  f64
//! u16  | u16  u16  i32  u16  i32  u32  i32  u64  i64  f32  f32  f32  f64
//! i16  | i16  i16  i16  i32  i16  i64  i32  f64  i64  f32  f32  f32  f64
//! u32  | u32  u32  i64  u32  i64  u32  i64  u64  i64  f64  f64  f64  f64
//! i32  | i32  i32  i32  i32  i32  i64  i32  f64  i64  f64  f64  f64  f64
//! u64  | u64  u64  f64  u64  f64  u64  f64  u64  f64  f64  f64  f64  f64
//! i64  | i64  i64  i64  i64  i64  i64  i64  f64  i64  f64  f64  f64  f64
//! f16  | f16  f16  f16  f32  f32  f64  f64  f64  f64  f16  f32  f32  f64
//! bf16 | bf16 bf16 bf16 f32  f32  f64  f64  f64  f64  f32  bf16 f32  f64
//! f32  | f32  f32  f32  f32  f32  f64  f64  f64  f64  f32  f32  f32  f64
//! f64  | f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
//! ```
//!
//! Plain numbers are weak: `bool` < integer < float, and only a number of a higher kind than the array's changes the
//! dtype, an integer with a `bool` array to `i64` and a float with an integer or `bool` array to `f64`.
//!
//! Functions of the reals (`exp`, `sqrt`, `div`, ..) of integers and bools are `f64`; sums and products of integers are
//! 64 bits wide; comparisons are `bool`, positions `i64`.

#[cfg(test)]
mod tests {
    use lodestride_buffer::DType;

    #[test]
    fn the_table_is_what_the_code_does() {
        let mut table = String::new();
        let row = |head: &str, cells: Vec<&str>| {
            let cells: String = cells.iter().map(|cell| format!(" {cell:<4}")).collect();
            format!("//! {head:<4} |{}\n", cells.trim_end())
        };
        table += &row("", DType::ALL.iter().map(|dtype| dtype.name()).collect());
        for a in DType::ALL {
            table += &row(
                a.name(),
                DType::ALL.iter().map(|b| a.promote(*b).name()).collect(),
            );
        }
        assert!(
            include_str!("promotion.rs").contains(&table),
            "the table should be:\n{table}"
        );
    }
}
