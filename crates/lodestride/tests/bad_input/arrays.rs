//! Arrays: shapes, axes, indices, in-place targets, overlapping operands, dtypes, memory.

use lodestride::Result;
use lodestride::array::kernels::KernelError;
use lodestride::array::{ArrayErrorKind as Kind, ShapeError};
use lodestride::prelude::*;

use super::{case, check};

/// 0, 1, 2, .. in the shape given.
fn counting(shape: &[usize]) -> Result<NdArray> {
    let count = shape.iter().product::<usize>();
    let sizes: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
    Ok(NdArray::arange(0, count, 1)?.reshape(sizes)?)
}

#[test]
fn shapes_that_do_not_fit() -> Result<()> {
    let (a, b, c) = (counting(&[3, 4])?, counting(&[3, 5])?, counting(&[4])?);
    check(vec![
        case!("add", [&a, &b], a.add(&b), Array Kind::Broadcast { .. },
            ["add", "[3, 4]", "[3, 5]", "axis 1 is 4 vs 5", "help: "]),
        case!("select", [&a, &b], a.less(5)?.select(&a, &b), Array Kind::Broadcast { .. },
            ["[3, 4]", "[3, 5]", "help: "]),
        case!("mmul", [&a], a.mmul(&a), Array Kind::MatrixProduct { .. },
            ["mmul", "[3, 4]", "4 columns against 3 rows", "help: "]),
        case!("assign", [&a, &b], a.assign(&b), Array Kind::InPlaceShape { .. },
            ["assign", "[3, 4]", "[3, 5]"]),
        case!("put", [&a, &b], a.put(&s![..2], &b), Array Kind::InPlaceShape { .. }, ["[2, 4]", "[3, 5]"]),
        case!("concat", [&a, &b], NdArray::concat(&[&a, &b], 0), Array Kind::Join { .. },
            ["concat", "[3, 4]", "[3, 5]", "axis 0", "help: "]),
        case!("concat of nothing", [], NdArray::concat(&[], 0), Array Kind::Empty { .. },
            ["concat", "at least one array"]),
        case!("stack", [&a, &b], NdArray::stack(&[&a, &b], 0), Array Kind::Join { .. },
            ["stack", "[3, 4]", "[3, 5]"]),
        case!("row vector", [&a], a.add_row_vector(&counting(&[3])?), Array Kind::VectorLength { .. },
            ["add_row_vector", "[3, 4]", "4 elements", "[3]"]),
        case!("reshape", [&a], a.reshape([5, 5]), Array Kind::Shape { source: ShapeError::Reshape { .. }, .. },
            ["reshape", "[3, 4] (12 elements)", "[5, 5] (25 elements)"]),
        case!("reshape with two unknowns", [&a], a.reshape([-1, -1]), Array Kind::Shape { .. },
            ["only one size may be -1"]),
        case!("view_as", [&a], a.transpose().view_as([12]), Array Kind::NeedsCopy { .. },
            ["view_as", "strides", "help: `reshape` copies"]),
        case!("broadcast_to", [&c], c.broadcast_to([3, 5]), Array Kind::Shape { .. },
            ["broadcast_to", "[4]", "[3, 5]"]),
        case!("values", [], NdArray::from_vec(vec![1.0f32; 5], [2, 3]), Array Kind::Length { .. },
            ["from_vec", "[2, 3]", "6 elements", "got 5"]),
        case!("ragged lists", [], NdArray::from_nested(vec![vec![1i32, 2], vec![3]]), Array Kind::Ragged { .. },
            ["axis 1", "2 elements", "LoD", "help: "]),
        case!("absurd size", [], NdArray::zeros([usize::MAX, 2]), Array Kind::Shape { .. } | Kind::Allocation { .. } | Kind::Length { .. },
            ["zeros"]),
        case!("row of a cube", [], counting(&[2, 2, 2])?.row(0), Array Kind::Form { .. },
            ["row", "a matrix", "[2, 2, 2]"]),
    ]);
    Ok(())
}

#[test]
fn axes_that_do_not_exist() -> Result<()> {
    let a = counting(&[3, 4])?;
    check(vec![
        case!("sum", [&a], a.sum(2), Array Kind::Shape { source: ShapeError::AxisOutOfRange { axis: 2, rank: 2 }, .. },
            ["sum", "axis 2", "rank 2", "use -2 to 1"]),
        case!("negative", [&a], a.sum(-3), Array Kind::Shape { source: ShapeError::AxisOutOfRange { axis: -3, .. }, .. },
            ["axis -3", "use -2 to 1"]),
        case!("argmax", [&a], a.argmax(5), Array Kind::Shape { .. }, ["argmax", "axis 5"]),
        case!("cumsum", [&a], a.cumsum(2), Array Kind::Shape { .. }, ["cumsum", "axis 2"]),
        case!("slice", [&a], a.slice(0, 2), Array Kind::Shape { .. }, ["slice", "axis 2"]),
        case!("permute", [&a], a.permute([0, 0]), Array Kind::Shape { .. }, ["permute"]),
        case!("squeeze", [&a], a.squeeze(0), Array Kind::Shape { .. }, ["squeeze", "size 3"]),
        case!("size", [&a], a.size(2), Array Kind::Shape { .. }, ["size", "axis 2"]),
        case!("softmax", [&a], a.softmax(2), Array Kind::Shape { .. }, ["axis 2"]),
        case!("tensors", [&a], a.tensors_along_dimension(2), Array Kind::Shape { .. }, ["axis 2"]),
        case!("tensor number", [&a], a.tensor_along_dimension(4, 0), Array Kind::Shape { source: ShapeError::TensorOutOfRange { .. }, .. },
            ["tensor 4 does not exist", "4 tensors"]),
        case!("maximum of nothing", [], NdArray::zeros([0, 3])?.max(0), Array Kind::Kernel { source: KernelError::EmptyReduction { .. } },
            ["max", "[0, 3]"]),
    ]);
    Ok(())
}

#[test]
fn indices_out_of_range() -> Result<()> {
    let a = counting(&[3, 4])?;
    check(vec![
        case!("element", [&a], a.get_f64([3, 0]), Array Kind::IndexRange { axis: 0, index: 3, .. },
            ["get_f64", "index 3", "axis 0", "[3, 4]", "help: "]),
        case!("negative element", [&a], a.get_f64([0, -5]), Array Kind::IndexRange { axis: 1, index: -5, .. },
            ["index -5", "axis 1", "help: "]),
        case!("too few numbers", [&a], a.set([0], 1), Array Kind::IndexCount { given: 1, .. },
            ["set", "rank 2", "help: "]),
        case!("set", [&a], a.set([0, 4], 1), Array Kind::IndexRange { .. }, ["set", "index 4"]),
        case!("row", [&a], a.row(-4), Array Kind::IndexRange { index: -4, .. }, ["row", "index -4"]),
        case!("put_row", [&a], a.put_row(3, 1), Array Kind::IndexRange { .. }, ["index 3"]),
        case!("point", [&a], a.get(&[point(3), all()]), Array Kind::Shape { source: ShapeError::IndexOutOfRange { .. }, .. },
            ["get", "index 3", "axis 0", "use -3 to 2"]),
        case!("too many indices", [&a], a.get(&s![0, 0, 0]), Array Kind::Shape { source: ShapeError::TooManyIndices { .. }, .. },
            ["get", "3 indices", "[3, 4]"]),
        case!("step 0", [&a], a.get(&s![.., 0..3; 0]), Array Kind::Shape { source: ShapeError::ZeroStep { .. }, .. },
            ["step 0"]),
        case!("rows", [&a], a.get_rows([0, 9]), Array Kind::IndexRange { index: 9, .. },
            ["get_rows", "index 9", "size 3", "help: "]),
        case!("take", [&a], a.take(&NdArray::from([0i64, -7]), 1), Array Kind::PositionRange { index: -7, .. },
            ["take", "-7", "axis 1", "size 4"]),
        case!("scatter", [&a], a.scatter_addi(&NdArray::from([0i64, 3]), &NdArray::ones([2, 4])?, 0), Array Kind::PositionRange { .. },
            ["3", "axis 0"]),
        case!("float indices", [&a], a.take(&NdArray::from([0.0f32]), 0), Array Kind::IndexDType { .. },
            ["take", "f32"]),
        case!("steps of arange", [], NdArray::arange(0, 1, 0), Array Kind::Range { .. }, ["arange", "step"]),
    ]);
    Ok(())
}

#[test]
fn in_place_targets_that_cannot_take_the_result() -> Result<()> {
    let (small, a, row) = (counting(&[3, 1])?, counting(&[3, 4])?, counting(&[1, 4])?);
    let broadcast = row.broadcast_to([3, 4])?;
    let out = NdArray::zeros([4, 3])?;
    check(vec![
        case!("growing", [&small, &a], small.addi(&a), Array Kind::InPlaceShape { .. },
            ["addi", "[3, 1]", "[3, 4]", "help: ", "`add`"]),
        case!("broadcast view", [&row, &a], broadcast.addi(&a), Array Kind::OverlappingTarget { .. },
            ["addi", "broadcast view", "[3, 4]", "help: `dup()`"]),
        case!("broadcast view, scalar", [&row], broadcast.muli(2), Array Kind::OverlappingTarget { .. },
            ["muli", "broadcast view"]),
        case!("broadcast view, unary", [&row], broadcast.expi(), Array Kind::OverlappingTarget { .. },
            ["expi"]),
        case!("broadcast view, assign", [&row], broadcast.assign(0), Array Kind::OverlappingTarget { .. },
            ["assign"]),
        case!("broadcast view, set", [&row], broadcast.set([0, 0], 9), Array Kind::OverlappingTarget { .. },
            ["set"]),
        case!("broadcast view, put", [&row], broadcast.put(&s![.., 0], 9), Array Kind::OverlappingTarget { .. },
            ["broadcast view"]),
        case!("broadcast view, output", [&row, &a], a.add_into(&a, &broadcast), Array Kind::OverlappingTarget { .. },
            ["add_into"]),
        case!("overlapping windows", [&a], a.windows(0, 2, 1)?.addi(1), Array Kind::OverlappingTarget { .. },
            ["addi"]),
        case!("output shape", [&a, &out], a.add_into(1, &out), Array Kind::OutputShape { .. },
            ["add_into", "[3, 4]", "[4, 3]", "help: "]),
        case!("view guard alive", [&a], { let guard = a.view::<f32>()?; let result = a.addi(1); drop(guard); result }, Array Kind::Kernel { source: KernelError::Access { .. } },
            ["in use", "1 read guard", "help: "]),
    ]);
    Ok(())
}

/// Operands that overlap are no error: the result is defined as if the source had been copied first.
#[test]
fn overlapping_operands_have_a_defined_result() -> Result<()> {
    let a = NdArray::from([1.0f32, 2.0, 3.0, 4.0, 5.0]);
    let (left, right) = (a.get(&s![..4])?, a.get(&s![1..])?);
    let expected = left.dup()?.add(&right.dup()?)?;
    right.addi(&left)?;
    assert_eq!(right, expected);
    assert_eq!(a, NdArray::from([1.0f32, 3.0, 5.0, 7.0, 9.0]));
    let b = NdArray::from([1.0f32, 2.0, 3.0, 4.0]);
    b.get(&s![..])?.assign(&b.flip(0)?)?;
    assert_eq!(b, NdArray::from([4.0f32, 3.0, 2.0, 1.0]));
    let square = NdArray::from([[1.0f32, 2.0], [3.0, 4.0]]);
    square.addi(&square.transpose())?;
    assert_eq!(square, NdArray::from([[2.0f32, 5.0], [5.0, 8.0]]));
    square.muli(&square)?;
    assert_eq!(square, NdArray::from([[4.0f32, 25.0], [25.0, 64.0]]));
    // A product cannot be written over its operand element by element; it is computed as if beside it.
    let m = NdArray::from([[1.0f32, 1.0], [0.0, 1.0]]);
    let product = m.mmul(&m)?;
    match m.mmul_into(&m, &m) {
        Ok(()) => assert_eq!(m, product),
        Err(error) => panic!("{error}"),
    }
    Ok(())
}

#[test]
fn dtypes_that_do_not_fit() -> Result<()> {
    let a = counting(&[3, 4])?;
    let ints = NdArray::from([1i32, 2]);
    let bytes = NdArray::from([1u8, 2]);
    let flags = NdArray::from([true, false]);
    check(vec![
        case!("reading as another type", [&a], a.to_vec::<f64>(), Array Kind::DTypeMismatch { .. },
            ["to_vec", "f64", "f32", "help: "]),
        case!("typed view", [&a], a.view::<i64>().map(drop), Array Kind::DTypeMismatch { .. },
            ["i64", "f32", "help: "]),
        case!("one element", [&ints], ints.get(&s![..1])?.item::<u8>(), Array Kind::DTypeMismatch { .. },
            ["item", "u8", "i32"]),
        case!("float into ints", [&ints], ints.addi(0.5), Array Kind::Cast { .. },
            ["addi", "f64", "i32", "help: "]),
        case!("division into ints", [&ints], ints.divi(2), Array Kind::Cast { .. }, ["divi", "i32"]),
        case!("output of ints", [&ints], a.row(0)?.get(&s![..2])?.add_into(1, &ints), Array Kind::Cast { .. },
            ["add_into", "f32", "i32"]),
        case!("number out of range", [&bytes], bytes.add(300), Array Kind::Kernel { source: KernelError::ScalarOutOfRange { .. } },
            ["add", "300", "u8", "help: "]),
        case!("in place, out of range", [&bytes], bytes.addi(-1), Array Kind::Kernel { source: KernelError::ScalarOutOfRange { .. } },
            ["-1", "u8"]),
        case!("minus a flag", [&flags], flags.neg(), Array Kind::UnsupportedDType { .. },
            ["neg", "bool", "help: "]),
        case!("mask of floats", [&a], a.replace_where(&a, 0), Array Kind::Mask { .. },
            ["replace_where", "bool", "f32", "help: "]),
        case!("shifted floats", [&a], a.shift_left(1), Array Kind::UnsupportedDType { .. } | Kind::Kernel { .. },
            ["shift", "f32"]),
    ]);
    Ok(())
}

#[test]
fn arrays_of_finished_workspaces() -> Result<()> {
    let workspace = Workspace::new("LOOP");
    let lost = workspace.scope(|_| NdArray::ones([3, 4]))??;
    let a = counting(&[3, 4])?;
    check(vec![
        case!("operand", [&a], a.addi(&lost), Array Kind::Kernel { source: KernelError::Access { .. } },
            ["Op [addi] Y argument", "leaked workspace pointer", "[LOOP]", "f32 [3, 4]", "help: "]),
        case!("source of assign", [&a], a.assign(&lost), Array Kind::Kernel { source: KernelError::Access { .. } },
            ["Op [assign] Y argument", "leaked"]),
        case!("reading", [], lost.to_vec::<f32>(), Array Kind::Access { .. },
            ["Op [to_vec] X argument", "leaked"]),
        case!("last of many", [&a], NdArray::concat(&[&a, &lost], 0), Array _,
            ["leaked workspace pointer", "help: "]),
        case!("detaching too late", [], lost.detach(), Array Kind::Access { .. }, ["Op [detach]", "leaked"]),
        case!("matrix product", [&a], a.mmul(&lost.transpose()), Array Kind::Kernel { .. },
            ["Op [", "Y argument", "leaked"]),
        case!("closed target", [&a], workspace.scope(|_| a.migrate())??.leverage_to(&workspace), Array Kind::Access { .. },
            ["leaked"]),
    ]);
    Ok(())
}
