//! Operations, layouts and dtypes beside those of the performance goals, over squares of a thousand and narrow matrices: so that
//! what people do besides is not forgotten. Their rivals are NumPy and PyTorch.

use lodestride::array::{self, ConvolveMode, DType, Distance, Index, NdArray, Order, Windows, s};

use crate::answers::{of_ours, positions, uniform};
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

/// Rows and columns.
const SIDE: usize = 1000;

/// How the tables write the size.
const SIZE: &str = "1e3x1e3";

/// The same of the cases on other matrices, whose names begin so.
const SIZES: [(&str, &str); 5] = [
    ("points.", "333333x3"),
    ("pixels.", "1000x333x3"),
    ("narrow.", "4096x32"),
    ("three.", "1e3x3"),
    ("hundred.", "1e2x1e2"),
];

/// What the operations work on: matrices, vectors, and positions along an axis.
struct Operands {
    a: NdArray,
    b: NdArray,
    row: NdArray,
    line: NdArray,
    at: NdArray,
    /// A line as long as the narrow matrix, eight columns for it, and three by three.
    long: NdArray,
    eight: NdArray,
    square: NdArray,
    /// The first matrix in f64.
    doubles: NdArray,
    /// 4096 rows of 32, their first column, and the same elements as 32 rows.
    narrow: NdArray,
    column: NdArray,
    flat: NdArray,
    /// A thousand rows of three.
    three: NdArray,
    /// A hundred rows and columns, three of them, and as many rows.
    hundred: NdArray,
    columns: NdArray,
    rows: NdArray,
    /// A thousand matrices of three by three.
    batch: NdArray,
    /// Rows of three coordinates; the same as pixels of three colours, and three planes seen as such pixels.
    points: NdArray,
    pixels: NdArray,
    planes: NdArray,
    /// Three positions and 32.
    order: NdArray,
    orders: NdArray,
}

/// A name, how far answers may differ, and what is measured. Of positions and of parts in any order only the number is
/// compared.
type Case = (&'static str, f64, fn(&Operands) -> array::Result<NdArray>);

const UNORDERED: f64 = f64::INFINITY;

const OF_FLOATS: [Case; 39] = [
    ("takealong", 0.0, |o| o.a.take_along_axis(&o.at, 1)),
    ("take.ax1", 0.0, |o| o.a.take(&o.at.row(0)?, 1)),
    ("take.line", 0.0, |o| o.line.take(&o.at.ravel()?, 0)),
    ("diff.ax0", 1e-6, |o| o.a.diff(1, 0)),
    ("diff.ax1", 1e-6, |o| o.a.diff(1, 1)),
    ("cumsum.ax0", 1e-4, |o| o.a.cumsum(0)),
    ("cumsum.ax1", 1e-4, |o| o.a.cumsum(1)),
    ("cumsum.turned", 1e-4, |o| o.a.transpose().cumsum(0)),
    ("cummax.ax1", 0.0, |o| o.a.cummax(1)),
    ("argmax.ax1", UNORDERED, |o| o.a.argmax(1)),
    ("argmax.step", UNORDERED, |o| every_second(&o.a)?.argmax(1)),
    ("max.step", 0.0, |o| every_second(&o.a)?.max(1)),
    ("sum.step", 1e-5, |o| every_second(&o.a)?.sum(1)),
    ("pow2", 1e-6, |o| o.a.pow(2)),
    ("pow3", 1e-6, |o| o.a.pow(3)),
    ("asinh", 1e-6, |o| o.a.asinh()),
    ("sinh", 1e-6, |o| o.a.sinh()),
    ("cbrt", 1e-6, |o| o.a.cbrt()),
    ("atan", 1e-6, |o| o.a.atan()),
    ("atan2", 1e-6, |o| o.a.atan2(&o.b)),
    ("elu", 1e-6, |o| o.a.elu()),
    ("topk10", 0.0, |o| Ok(o.a.topk(10, 1)?.0)),
    ("partition", UNORDERED, |o| o.a.partition([500isize], 1)),
    ("sort.ax1", 0.0, |o| o.a.sort(1)),
    ("convolve", 1e-4, |o| {
        o.row.convolve(&o.row, ConvolveMode::Full)
    }),
    ("gemv.turned", 1e-3, |o| o.a.transpose().matmul(&o.row)),
    ("inner", 1e-3, |o| o.line.inner(&o.line)),
    ("toint", 0.0, |o| o.a.cast(DType::I64)),
    ("trapezoid", 1e-4, |o| o.a.trapezoid(1.0, 1)),
    ("nansum", 1e-4, |o| o.a.nan_sum(1)),
    ("kron", 1e-6, |o| corner(&o.a, 32)?.kron(&corner(&o.b, 32)?)),
    ("log10", 1e-6, |o| o.a.log10()),
    ("median", 1e-6, |o| o.line.median(..)),
    ("cosine.ax1", 1e-5, |o| {
        o.a.distance(Distance::CosineSimilarity, &o.b, 1)
    }),
    ("add.step", 1e-6, |o| {
        every_second(&o.a)?.add(&every_second(&o.b)?)
    }),
    ("logspace", 1e-5, |o| {
        NdArray::logspace_of(o.a.dtype(), -3, 3, SIDE * SIDE, 10.0)
    }),
    ("arange", 0.0, |o| {
        NdArray::arange_of(o.a.dtype(), 0, SIDE * SIDE, 1)
    }),
    ("linspace", 1e-6, |o| {
        NdArray::linspace_of(o.a.dtype(), 0, 1, SIDE * SIDE)
    }),
    ("conv2d", 1e-4, |o| {
        let kernels = o.line.get(&s![..6400])?.reshape([16, 16, 5, 5])?;
        let images = o.a.reshape([4, 16, 125, 125])?;
        images.conv2d(&kernels, None, &Windows::new([5, 5]))
    }),
];

/// Of every dtype that has them: what rows of a few elements cost beside whole matrices.
const OF_ROWS: [Case; 12] = [
    ("narrow.sub.column", 1e-6, |o| o.narrow.sub(&o.column)),
    ("narrow.less.column", 0.0, |o| o.narrow.less(&o.column)),
    ("narrow.mv", 1e-4, |o| {
        o.narrow.matmul(&o.row.get(&s![..32])?)
    }),
    ("narrow.max.few", 0.0, |o| o.flat.max(0)),
    ("narrow.sum.few", 1e-5, |o| o.flat.sum(0)),
    ("narrow.take", 0.0, |o| o.narrow.take(&o.orders, 1)),
    ("narrow.repeat", 0.0, |o| o.narrow.repeat(2, 0)),
    ("narrow.argmax", UNORDERED, |o| o.narrow.argmax(1)),
    ("three.argmax", UNORDERED, |o| o.three.argmax(1)),
    ("three.take", 0.0, |o| o.three.take(&o.order, 1)),
    ("three.mv", 1e-5, |o| o.three.matmul(&o.row.get(&s![..3])?)),
    ("three.add.row", 1e-6, |o| {
        o.three.add(&o.row.get(&s![..3])?)
    }),
];

/// Of every dtype that has them: products of which one side is short, and of what lies column by column.
const OF_PRODUCTS: [Case; 9] = [
    ("narrow.tv", 1e-4, |o| o.narrow.transpose().matmul(&o.long)),
    ("narrow.mm8", 1e-5, |o| o.narrow.matmul(&o.eight)),
    ("narrow.gram", 1e-4, |o| {
        o.narrow.transpose().matmul(&o.narrow)
    }),
    ("three.gram", 1e-4, |o| o.three.transpose().matmul(&o.three)),
    ("three.mm3", 1e-5, |o| o.three.matmul(&o.square)),
    ("three.outer", 1e-5, |o| {
        o.three.matmul(&o.three.transpose())
    }),
    ("hundred.tv", 1e-5, |o| {
        o.hundred.transpose().matmul(&o.row.get(&s![..100])?)
    }),
    ("hundred.mm3", 1e-5, |o| o.hundred.matmul(&o.columns)),
    ("hundred.nt3", 1e-5, |o| {
        o.rows.matmul(&o.hundred.transpose())
    }),
];

/// Of dtypes of several sizes: matrices that come to lie row by row.
const OF_TURNS: [Case; 4] = [
    ("narrow.turn", 0.0, |o| turned(&o.narrow)),
    ("three.turn", 0.0, |o| turned(&o.three)),
    ("hundred.turn", 0.0, |o| turned(&o.hundred)),
    ("stack.last", 0.0, |o| NdArray::stack(&[&o.a, &o.b], -1)),
];

/// Of floats: small matrices by the thousand, and parts that are repeated, left out or counted.
const OF_PARTS: [Case; 6] = [
    ("three.batch", 1e-5, |o| o.batch.matmul(&o.batch)),
    ("three.batch.turned", 1e-5, |o| {
        o.batch.matmul(&o.batch.swap_axes(-1, -2)?)
    }),
    ("hundred.repeat", 0.0, |o| o.hundred.repeat(2, 1)),
    ("hundred.delete", 0.0, |o| o.hundred.delete([5], 1)),
    ("hundred.counts", 0.0, |o| Ok(o.hundred.unique_counts()?.0)),
    ("points.tv", 1e-3, |o| {
        o.points.transpose().matmul(&o.line.get(&s![..333_333])?)
    }),
];

/// Of dtypes of several sizes: parts of rows of three, and what lies plane by plane beside what lies pixel by pixel.
const OF_THREES: [Case; 8] = [
    ("points.add", 1e-6, |o| {
        let (first, last) = (o.points.get(&s![.., ..2])?, o.points.get(&s![.., 1..])?);
        first.add(&last)
    }),
    ("points.sum.ax0", 1e-3, |o| {
        o.points.get(&s![.., ..2])?.sum(0)
    }),
    ("pixels.mean.ax1", 1e-5, |o| o.pixels.mean(1)),
    ("pixels.one", 1e-4, |o| o.pixels.get(&s![.., .., 0])?.sum(1)),
    ("pixels.planes", 1e-6, |o| o.planes.add(&o.pixels)),
    ("pixels.turned", 0.0, |o| o.planes.neg()),
    ("points.flip", 0.0, |o| {
        o.points.flip(0)?.dup_order(Order::C)
    }),
    ("pixels.median", 1e-6, |o| o.pixels.median(2)),
];

/// Of what images are made of: pixels from right to left, their colours backwards, and a plane of each colour.
const OF_IMAGES: [Case; 3] = [
    ("pixels.mirror", 0.0, |o| {
        o.pixels.flip(1)?.dup_order(Order::C)
    }),
    ("pixels.backward", 0.0, |o| {
        o.pixels.flip(2)?.dup_order(Order::C)
    }),
    ("pixels.part", 0.0, |o| {
        o.pixels.permute([2, 0, 1])?.dup_order(Order::C)
    }),
];

/// Of integers of every size that are not what sums are kept in.
const OF_SMALL: [Case; 8] = [
    ("hundred.flip", 0.0, |o| o.hundred.flip(1)?.dup()),
    ("hundred.mean", 1e-9, |o| o.hundred.mean(0)),
    ("hundred.tolong", 0.0, |o| o.hundred.cast(DType::I64)),
    ("hundred.sort", 0.0, |o| o.hundred.sort(1)),
    ("hundred.sum", 0.0, |o| o.hundred.sum(0)),
    ("three.cumsum", 0.0, |o| o.three.cumsum(1)),
    ("three.step", 0.0, |o| every_second(&o.three)?.sum(1)),
    ("narrow.less.column", 0.0, |o| o.narrow.less(&o.column)),
];

const OF_INTEGERS: [Case; 14] = [
    ("add.row", 0.0, |o| o.a.add(&o.row)),
    ("mul", 0.0, |o| o.a.mul(&o.b)),
    ("max.ax0", 0.0, |o| o.a.max(0)),
    ("max.ax1", 0.0, |o| o.a.max(1)),
    ("min.all", 0.0, |o| o.a.min(..)),
    ("sum.ax0", 0.0, |o| o.a.sum(0)),
    ("argmax.ax1", UNORDERED, |o| o.a.argmax(1)),
    ("floordiv", 0.0, |o| o.a.floor_div(7)),
    ("mod", 0.0, |o| o.a.modulo(&o.b)),
    ("pow2", 0.0, |o| o.a.pow(2)),
    ("shift", 0.0, |o| o.a.shift_left(1)),
    ("sort.ax1", 0.0, |o| o.a.sort(1)),
    ("gemv", 0.0, |o| o.a.matmul(&o.row)),
    ("mm128", 0.0, |o| {
        corner(&o.a, 128)?.matmul(&corner(&o.b, 128)?)
    }),
];

/// Sums along rows only: of all elements they are beyond the largest half.
const OF_HALVES: [Case; 16] = [
    ("add", 1e-3, |o| o.a.add(&o.b)),
    ("add.number", 1e-3, |o| o.a.add(2.0)),
    ("neg", 0.0, |o| o.a.neg()),
    ("clip", 0.0, |o| o.a.clip(0.75, 1.25)),
    ("gemv", 2e-3, |o| o.a.matmul(&o.row)),
    ("gevm", 2e-3, |o| o.row.matmul(&o.a)),
    ("exp", 2e-3, |o| o.a.exp()),
    ("tof32", 0.0, |o| o.a.cast(DType::F32)),
    ("fromf64", 0.0, |o| o.doubles.cast(o.a.dtype())),
    ("sum.ax1", 2e-3, |o| o.a.sum(1)),
    ("max.all", 0.0, |o| o.a.max(..)),
    ("argmax.ax1", UNORDERED, |o| o.a.argmax(1)),
    ("hundred.sort", 0.0, |o| o.hundred.sort(1)),
    ("hundred.softmax", 2e-3, |o| o.hundred.softmax(0)),
    ("three.cumsum", 2e-3, |o| o.three.cumsum(1)),
    ("three.step", 2e-3, |o| every_second(&o.three)?.sum(1)),
];

/// Products of the halves that processors multiply in pairs.
const OF_BF16: [Case; 4] = [
    ("mm", 1e-2, |o| o.a.matmul(&o.b)),
    ("mm.turned", 1e-2, |o| o.a.matmul(&o.b.transpose())),
    ("gemv", 1e-2, |o| o.a.matmul(&o.row)),
    ("gevm", 1e-2, |o| o.row.matmul(&o.a)),
];

const OF_FLAGS: [Case; 5] = [
    ("narrow.all.few", 0.0, |o| o.flat.all(0)),
    ("any.ax0", 0.0, |o| o.a.any(0)),
    ("all.ax1", 0.0, |o| o.a.all(1)),
    ("count.ax0", 0.0, |o| o.a.count_nonzero(0)),
    ("argmax.ax1", UNORDERED, |o| o.a.argmax(1)),
];

fn every_second(x: &NdArray) -> array::Result<NdArray> {
    x.get(&s![.., ..;2])
}

fn turned(x: &NdArray) -> array::Result<NdArray> {
    x.transpose().dup_order(Order::C)
}

/// The first rows and columns, one after the other in memory.
fn corner(x: &NdArray, size: isize) -> array::Result<NdArray> {
    x.get(&[Index::from(0..size), Index::from(0..size)])?.dup()
}

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    for dtype in [DType::F32, DType::F64] {
        of_type(suite, dtype, &OF_FLOATS)?;
        of_type(suite, dtype, &OF_PARTS)?;
    }
    for dtype in [DType::F32, DType::F64, DType::I64] {
        of_type(suite, dtype, &OF_ROWS)?;
    }
    for dtype in [DType::F32, DType::F64, DType::I32, DType::I64] {
        of_type(suite, dtype, &OF_PRODUCTS)?;
    }
    for dtype in [DType::I16, DType::F32, DType::F64] {
        of_type(suite, dtype, &OF_THREES)?;
    }
    for dtype in [DType::U8, DType::F32, DType::F64] {
        of_type(suite, dtype, &OF_TURNS)?;
    }
    for dtype in [DType::U8, DType::F32] {
        of_type(suite, dtype, &OF_IMAGES)?;
    }
    for dtype in [DType::U8, DType::I16, DType::I32] {
        of_type(suite, dtype, &OF_SMALL)?;
    }
    of_type(suite, DType::F16, &OF_HALVES)?;
    of_type(suite, DType::BF16, &OF_BF16)?;
    for dtype in [DType::I32, DType::I64, DType::U8] {
        of_type(suite, dtype, &OF_INTEGERS)?;
    }
    of_type(suite, DType::Bool, &OF_FLAGS)
}

fn of_type(suite: &mut Suite, dtype: DType, cases: &[Case]) -> Result<(), Failure> {
    let named = |case: &Case| {
        let other = SIZES.iter().find(|(start, _)| case.0.starts_with(start));
        let size = other.map_or(SIZE, |(_, size)| size);
        let key = suite.wants(&format!("wd.{}", case.0), size, dtype.name())?;
        Some((key, *case))
    };
    let wanted: Vec<_> = cases.iter().filter_map(named).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let operands = Operands::new(dtype)?;
    for (key, (_, tolerance, operation)) in wanted {
        let mut contest = Contest::new(key, tolerance);
        contest.ours(|| operation(&operands), of_ours)?;
        suite.run(contest)?;
    }
    Ok(())
}

impl Operands {
    fn new(dtype: DType) -> Result<Self, Failure> {
        let values = |shape: &[usize], stream: u64| -> Result<NdArray, Failure> {
            let count = shape.iter().product();
            let array = match dtype {
                DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
                    NdArray::from_vec(uniform(count, stream, 0.5, 1.5), shape)?
                }
                DType::Bool => NdArray::from_vec(positions(count, stream, 2), shape)?,
                _ => NdArray::from_vec(positions(count, stream, 100), shape)?.add(1)?,
            };
            Ok(array.cast(dtype)?)
        };
        let a = values(&[SIDE, SIDE], 1)?;
        let line = values(&[SIDE * SIDE], 4)?;
        let first = |count: isize, shape: [usize; 2]| {
            line.get(&[Index::from(0..count)])?.dup()?.reshape(shape)
        };
        let narrow = first(4096 * 32, [4096, 32])?;
        let positions_of = |count: usize| NdArray::from_vec(positions(count, 6, count), [count]);
        Ok(Self {
            column: narrow.get(&s![.., ..1])?.dup()?,
            flat: narrow.reshape([32, 4096])?,
            narrow,
            three: first(3 * 1000, [1000, 3])?,
            hundred: first(100 * 100, [100, 100])?,
            columns: first(300, [100, 3])?,
            rows: first(300, [3, 100])?,
            points: first(999_999, [333_333, 3])?,
            pixels: first(999_000, [333_000, 3])?.reshape([1000, 333, 3])?,
            planes: first(999_000, [3, 333_000])?
                .transpose()
                .reshape([1000, 333, 3])?,
            batch: first(9000, [3000, 3])?.reshape([1000, 3, 3])?,
            long: line.get(&s![..4096])?.dup()?,
            eight: first(32 * 8, [32, 8])?,
            square: first(9, [3, 3])?,
            order: positions_of(3)?,
            orders: positions_of(32)?,
            doubles: a.cast(DType::F64)?,
            a,
            b: values(&[SIDE, SIDE], 2)?,
            row: values(&[SIDE], 3)?,
            line,
            at: NdArray::from_vec(positions(SIDE * SIDE, 5, SIDE), [SIDE, SIDE])?,
        })
    }
}
