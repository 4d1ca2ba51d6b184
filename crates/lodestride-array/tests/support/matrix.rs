//! The layout matrix: one array in every memory layout that views can give it, and the shapes it is worth having them for.
//!
//! ND4J found most of its bugs by running each numeric test over such a matrix, so every numeric test here does. One with one
//! operand goes over [`layout_matrix`], and [`stretched`] where values may be others ([`inputs`] is both); one with several
//! over [`combinations`] and [`stretched_combinations`] ([`in_layouts`] names the operands); what is written to takes the
//! layouts of [`layout_matrix`]; shapes are [`all_shapes`]. It uses the public interface only.
//!
//! Used by blas, by_name, chance, convolution, dlpack, draws, einsum, elementwise, fused, indexing (cases, conditions, numpy, oracle,
//! scatter), interchange, into, layout_matrix, linalg, making, properties, short_ways, sorting, sorting_numpy, statistics,
//! transfer, views; in statistics and convolution through the stored cases of `figures`, and for single known answers (of
//! cases, elementwise, indexing, nd4j_cases, sorting, statistics, views) through the turns of `tables`. Not by tests of errors,
//! guards, workspaces and allocations.
use lodestride_array::{DType, Index, Layout, NdArray, Order, Result, interval_step};

/// The elements of `array`, in its shape, in every layout: direct, transposed, permuted, sub-arrays, tensors along
/// dimensions of larger arrays, reshaped, reversed, and with steps of any kind along axes of size 1.
///
/// All are fresh memory that may be written. Arrays whose elements repeat are in [`repeated`].
pub(crate) fn layout_matrix(array: &NdArray) -> Result<Vec<(String, NdArray)>> {
    let mut all = Vec::new();
    for order in [Order::C, Order::F] {
        all.push((format!("{order:?}"), array.dup_order(order)?));
    }
    permuted(array, &mut all)?;
    parts(array, &mut all)?;
    tensors(array, &mut all)?;
    reshaped(array, &mut all)?;
    reversed(array, &mut all)?;
    odd_steps(array, &mut all)?;
    Ok(all)
}

/// The elements of `array` that lie at the start of some axes, stretched along these: read-only views with steps of 0, one for
/// each set of axes longer than 1. Every one comes with the same elements without gaps.
pub(crate) fn stretched(array: &NdArray) -> Result<Vec<(String, NdArray, NdArray)>> {
    let shape = array.shape();
    let mut all = Vec::new();
    for subset in 1..1u32 << shape.len() {
        let axes: Vec<usize> = (0..shape.len()).filter(|a| subset >> a & 1 == 1).collect();
        if axes.iter().any(|&axis| shape[axis] == 1) {
            continue;
        }
        let first = if array.is_empty() {
            let mut sizes = shape.to_vec();
            axes.iter().for_each(|&axis| sizes[axis] = 1);
            NdArray::zeros_of(array.dtype(), sizes)?
        } else {
            let ends = (0..shape.len()).map(|a| if axes.contains(&a) { 1 } else { shape[a] });
            let part: Vec<Index> = ends.map(|end| interval_step(0, 1, end as isize)).collect();
            array.get(&part)?.dup_order(Order::C)?
        };
        let view = first.broadcast_to(shape)?;
        let same = NdArray::zeros_of(array.dtype(), shape)?;
        same.assign(&view)?;
        all.push((format!("stretched along {axes:?}"), view, same));
    }
    Ok(all)
}

/// [`numbered`] arrays of a shape, [`stretched`].
pub(crate) fn repeated(dtype: DType, shape: &[usize]) -> Result<Vec<(String, NdArray, NdArray)>> {
    stretched(&numbered(dtype, shape)?)
}

/// `array` in every layout that can be read, the stretched ones too, each with the same elements without gaps.
pub(crate) fn inputs(array: &NdArray) -> Result<Vec<(String, NdArray, NdArray)>> {
    let plain = array.dup_order(Order::C)?;
    let views = layout_matrix(array)?.into_iter();
    let mut all: Vec<_> = views
        .map(|(name, view)| (name, view, plain.clone()))
        .collect();
    all.extend(stretched(array)?);
    Ok(all)
}

/// What is done with operands whose layouts a text names.
type Run<'a> = dyn FnMut(&str, &[&NdArray]) + 'a;

/// The same with stretched operands, and beside them the same elements without gaps.
type StretchedRun<'a> = dyn FnMut(&str, &[&NdArray], &[&NdArray]) + 'a;

/// Calls `run` with the operands in combinations of layouts: each of them has every layout of its [`layout_matrix`] at least
/// once, beside changing ones of the others. What `run` writes into them is undone before the next turn.
pub(crate) fn combinations(operands: &[&NdArray], run: &mut Run<'_>) -> Result<()> {
    let variants: Vec<_> = (operands.iter())
        .map(|operand| layout_matrix(operand))
        .collect::<Result<_>>()?;
    for picked in turns(&variants) {
        for ((_, view), operand) in picked.iter().zip(operands) {
            view.assign(*operand)?;
        }
        let given: Vec<&NdArray> = picked.iter().map(|(_, view)| view).collect();
        run(&names(picked.iter().map(|(name, _)| name)), &given);
    }
    Ok(())
}

/// [`combinations`] of so many operands as the pattern of a closure names.
pub(crate) fn in_layouts<const N: usize>(
    operands: [&NdArray; N],
    run: &mut dyn FnMut(&str, [&NdArray; N]),
) -> Result<()> {
    combinations(&operands, &mut |name, given| {
        run(name, std::array::from_fn(|place| given[place]));
    })
}

/// As [`combinations`], of operands each [`stretched`] along every set of axes once; `run` gets the same elements without
/// gaps as well. Operands without an axis to stretch are given as they are.
pub(crate) fn stretched_combinations(
    operands: &[&NdArray],
    run: &mut StretchedRun<'_>,
) -> Result<()> {
    let variants = operands.iter().map(|&operand| {
        let mut all = stretched(operand)?;
        if all.is_empty() {
            all.push(("plain".to_owned(), operand.clone(), operand.clone()));
        }
        Ok(all)
    });
    let variants: Vec<_> = variants.collect::<Result<_>>()?;
    for picked in turns(&variants) {
        let given: Vec<&NdArray> = picked.iter().map(|(_, view, _)| view).collect();
        let plain: Vec<&NdArray> = picked.iter().map(|(_, _, same)| same).collect();
        run(&names(picked.iter().map(|(name, ..)| name)), &given, &plain);
    }
    Ok(())
}

/// One of each list, in as many turns as the longest list needs: each goes round by a step of its own that has no divisor in
/// common with its length, so it is seen whole and meets changing ones of the others.
fn turns<T>(lists: &[Vec<T>]) -> Vec<Vec<&T>> {
    fn divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    let steps: Vec<usize> = (lists.iter().enumerate())
        .map(|(place, list)| {
            let mut step = 2 * place + 1;
            while divisor(step, list.len()) != 1 {
                step += 1;
            }
            step
        })
        .collect();
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    let pick =
        |turn: usize, place: usize, list: &Vec<T>| (turn * steps[place] + place) % list.len();
    (0..most)
        .map(|turn| {
            let lists = lists.iter().enumerate();
            lists
                .map(|(place, list)| &list[pick(turn, place, list)])
                .collect()
        })
        .collect()
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    names.join("; ")
}

/// Shapes every numeric op should be run on: a scalar, size 0 in each place, every combination of the sizes 1 and 2 up to
/// rank 5, and a few with different and larger sizes.
pub(crate) fn all_shapes() -> Vec<Vec<usize>> {
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    for rank in 0..=5 {
        for bits in 0..1usize << rank {
            shapes.push((0..rank).map(|axis| 1 + (bits >> axis & 1)).collect());
        }
    }
    let others: [&[usize]; 14] = [
        &[0],
        &[0, 3],
        &[3, 0],
        &[2, 0, 3],
        &[0, 2, 1, 0],
        &[7],
        &[65],
        &[3, 4],
        &[1, 5],
        &[5, 1],
        &[70, 3],
        &[2, 3, 4],
        &[4, 1, 3, 2],
        &[2, 3, 1, 2, 3],
    ];
    shapes.extend(others.map(<[usize]>::to_vec));
    shapes
}

/// `0, 1, 2, ..` of a dtype in the given shape, C order; of bool, true but for every third.
pub(crate) fn numbered(dtype: DType, shape: &[usize]) -> Result<NdArray> {
    let count: usize = shape.iter().product();
    if dtype == DType::Bool {
        let values: Vec<bool> = (0..count).map(|i| i % 3 != 0).collect();
        return NdArray::from_vec(values, shape);
    }
    let values: Vec<f64> = (0..count).map(|i| i as f64).collect();
    NdArray::from_vec(values, shape)?.cast(dtype)
}

/// Every order of the axes in memory up to rank 3, every rotation of them beyond.
fn permuted(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    let rank = array.rank();
    let mut orders: Vec<Vec<usize>> = match rank {
        0 | 1 => vec![],
        2 => vec![vec![1, 0]],
        3 => vec![
            vec![0, 2, 1],
            vec![1, 0, 2],
            vec![1, 2, 0],
            vec![2, 0, 1],
            vec![2, 1, 0],
        ],
        _ => (1..rank)
            .map(|by| (0..rank).map(|axis| (axis + by) % rank).collect())
            .collect(),
    };
    if rank > 3 {
        orders.push((0..rank).rev().collect());
    }
    for order in orders {
        let mut back = vec![0; rank];
        for (to, &from) in order.iter().enumerate() {
            back[from] = to;
        }
        let moved = array.permute(&order)?.dup_order(Order::C)?;
        all.push((format!("axes {order:?} in memory"), moved.permute(&back)?));
    }
    Ok(())
}

/// Parts of larger arrays: from their front, middle and end, with gaps of several sizes, in both orders.
fn parts(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    let kinds: [(&str, Order, usize, usize, usize); 6] = [
        ("the front", Order::C, 0, 1, 1),
        ("the middle", Order::C, 1, 1, 1),
        ("the end", Order::F, 2, 1, 0),
        ("every second element", Order::C, 1, 2, 1),
        ("every third element", Order::F, 0, 3, 2),
        ("backwards by two", Order::C, 1, 2, 0),
    ];
    for (name, order, before, step, after) in kinds {
        let sizes = array.shape().iter();
        let sizes: Vec<usize> = sizes.map(|size| before + size * step + after).collect();
        let larger = NdArray::full_of(array.dtype(), sizes, 77)?.dup_order(order)?;
        let indices: Vec<Index> = (array.shape().iter())
            .map(|&size| {
                interval_step(
                    before as isize,
                    step as isize,
                    (before + size * step) as isize,
                )
            })
            .collect();
        let mut view = larger.get(&indices)?;
        if name.starts_with("backwards") {
            for axis in 0..array.rank() as isize {
                view = view.flip(axis)?;
            }
        }
        view.assign(array)?;
        all.push((format!("{name} of a larger {order:?} array"), view));
    }
    Ok(())
}

/// The first and the last tensor along all but one or two extra axes, which stand in front, behind, between.
fn tensors(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    let rank = array.rank();
    let mut places = vec![vec![0], vec![rank], vec![0, rank + 1]];
    if rank > 1 {
        places.push(vec![1]);
    }
    for extra in places {
        let mut sizes: Vec<usize> = array.shape().to_vec();
        for &place in &extra {
            sizes.insert(place, 2);
        }
        let axes: Vec<isize> = (0..sizes.len())
            .filter(|axis| !extra.contains(axis))
            .map(|axis| axis as isize)
            .collect();
        for order in [Order::C, Order::F] {
            for number in [0, (1 << extra.len()) - 1] {
                let larger = NdArray::full_of(array.dtype(), &sizes[..], 77)?.dup_order(order)?;
                let view = larger.tensor_along_dimension(number, &axes[..])?;
                view.assign(array)?;
                let name =
                    format!("tensor {number} along {axes:?} of a {order:?} array of {sizes:?}");
                all.push((name, view));
            }
        }
    }
    Ok(())
}

/// Shapes given to a vector, with and without gaps.
fn reshaped(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    for step in [1, 2] {
        let line = NdArray::full_of(array.dtype(), [array.len() * step], 77)?;
        let whole = interval_step(0, step as isize, (array.len() * step) as isize);
        let view = line.get(&[whole])?.view_as(array.shape())?;
        view.assign(array)?;
        all.push((format!("a vector of step {step} in another shape"), view));
    }
    Ok(())
}

/// Each axis backwards, and all.
fn reversed(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    let flip = |array: NdArray, axes: &[isize]| {
        axes.iter().try_fold(array, |array, &axis| array.flip(axis))
    };
    let every: Vec<isize> = (0..array.rank() as isize).collect();
    let mut kinds: Vec<&[isize]> = every.chunks(1).collect();
    if array.rank() > 1 {
        kinds.push(&every);
    }
    for axes in kinds {
        for order in [Order::C, Order::F] {
            let view = flip(flip(array.clone(), axes)?.dup_order(order)?, axes)?;
            all.push((format!("{order:?}, axes {axes:?} backwards"), view));
        }
    }
    Ok(())
}

/// Axes of size 1 whose steps are 0, huge or negative: they are never taken, so they must not matter.
fn odd_steps(array: &NdArray, all: &mut Vec<(String, NdArray)>) -> Result<()> {
    if !array.shape().contains(&1) {
        return Ok(());
    }
    for odd in [0, 1000, -7] {
        let base = array.dup_order(Order::C)?;
        let axes = base.shape().iter().zip(base.strides());
        let strides: Vec<isize> = axes.map(|(&n, &s)| if n == 1 { odd } else { s }).collect();
        let layout = Layout::new(base.shape().clone(), strides, 0)
            .expect("a step that is never taken reaches nothing");
        let view = NdArray::from_buffer(base.buffer().clone(), layout, base.dtype())?;
        all.push((format!("steps of {odd} along axes of size 1"), view));
    }
    Ok(())
}
