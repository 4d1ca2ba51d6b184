//! Rows of arrays that grow and of random numbers; and operations that read no array, which only the checks see.

use lodestride_array::{
    AccessError, Argument, Condition, DType, GrowArray, NdArray, Order, Pooling, Result, Rng,
    Windows, Workspace, blas, fancy, scope_out,
};

use super::table::{Row, row};
use crate::support::report;

pub(super) const MADE: &[Row] = &[
    row("from_array", "GrowArray::from_array", "m", "X", |a| {
        GrowArray::from_array(&a[0], 1).map(drop)
    }),
    row("push", "push", "r", "Y", |a| {
        GrowArray::new(DType::F32, [4], 0)?.push(&a[0])
    }),
    row("extend", "extend", "m", "Y", |a| {
        GrowArray::new(DType::F32, [4], 0)?.extend(&a[0])
    }),
    row("fill_uniform", "fill_uniform", "m", "Z", |a| {
        Rng::seeded(1).fill_uniform(&a[0], 0.0, 1.0)
    }),
    row("fill_normal", "fill_normal", "m", "Z", |a| {
        Rng::seeded(1).fill_normal(&a[0], 0.0, 1.0)
    }),
];

/// An operation without arrays, and the name it is counted under.
pub(crate) type Source = (&'static str, fn() -> Result<()>);

pub(crate) const SOURCES: &[Source] = &[
    ("full", || NdArray::full([3], 2.0).map(drop)),
    ("arange", || NdArray::arange(0, 5, 1).map(drop)),
    ("linspace", || NdArray::linspace(0, 5, 3).map(drop)),
    ("eye", || NdArray::eye(3).map(drop)),
    ("linspace_open", || {
        NdArray::linspace_open(0, 5, 3).map(drop)
    }),
    ("logspace", || NdArray::logspace(0, 5, 3, 2.0).map(drop)),
    ("geomspace", || NdArray::geomspace(1, 5, 3).map(drop)),
    ("eye_at", || NdArray::eye_at(3, 2, 0).map(drop)),
    ("from_fn", || NdArray::from_fn([3], |_| 1.0f32).map(drop)),
    ("indices", || NdArray::indices([3, 2]).map(drop)),
    ("tril_indices", || NdArray::tril_indices(3, 2, 0).map(drop)),
    ("triu_indices", || NdArray::triu_indices(3, 2, 0).map(drop)),
    ("tri", || NdArray::tri(3, 3, 0).map(drop)),
    ("rand", || NdArray::rand([3]).map(drop)),
    ("randn", || NdArray::randn([3]).map(drop)),
    ("uniform", || rng().uniform([3], 0.0, 1.0).map(drop)),
    ("normal", || rng().normal([3], 0.0, 1.0).map(drop)),
    ("bernoulli", || rng().bernoulli([3], 0.5).map(drop)),
    ("integers", || rng().integers([3], 0, 9).map(drop)),
    ("log_normal", || rng().log_normal([3], 0.0, 1.0).map(drop)),
    ("truncated_normal", || {
        rng().truncated_normal([3], 0.0, 1.0).map(drop)
    }),
    ("exponential", || rng().exponential([3], 1.0).map(drop)),
    ("gamma", || rng().gamma([3], 1.0, 1.0).map(drop)),
    ("beta", || rng().beta([3], 1.0, 1.0).map(drop)),
    ("poisson", || rng().poisson([3], 1.0).map(drop)),
    ("binomial", || rng().binomial([3], 5, 0.5).map(drop)),
    ("orthogonal", || rng().orthogonal([3, 3], 1.0).map(drop)),
    ("reserve", || {
        let mut all = GrowArray::from_array(&NdArray::zeros([3])?, 0)?;
        all.reserve(9)
    }),
    ("shrink_to_fit", || {
        let mut all = GrowArray::new(DType::F32, [3], 0)?;
        all.push(1)?;
        all.shrink_to_fit()
    }),
    ("detach", || {
        inside(|| NdArray::zeros([3])?.detach().map(drop))
    }),
    ("leverage_or_detach", || {
        let other = Workspace::new("OTHER");
        inside(|| NdArray::zeros([3])?.leverage_or_detach(&other).map(drop))
    }),
    ("leverage", || {
        inside(|| NdArray::zeros([3])?.leverage().map(drop))
    }),
    ("leverage_to", || {
        let other = Workspace::new("OTHER");
        other
            .scope(|_| inside(|| NdArray::zeros([3])?.leverage_to(&other).map(drop)))
            .expect("opens")
    }),
    ("migrate", || {
        let outside = NdArray::zeros([3])?;
        inside(|| outside.migrate().map(drop))
    }),
    ("migrate_or_detach", || {
        let outside = NdArray::zeros([3])?;
        inside(|| outside.migrate_or_detach().map(drop))
    }),
    ("migrate_or_detach", || {
        inside(|| {
            let inside = NdArray::zeros([3])?;
            scope_out(|| inside.migrate_or_detach().map(drop))
        })
    }),
];

fn rng() -> Rng {
    Rng::seeded(1)
}

fn inside(call: impl FnOnce() -> Result<()>) -> Result<()> {
    Workspace::new("INNER").scope(|_| call()).expect("opens")
}

#[test]
fn an_array_that_grows_is_refused_where_its_elements_are_held() {
    type Growing = (&'static str, fn(&mut GrowArray) -> Result<()>);
    let calls: [Growing; 4] = [
        ("push", |all| all.push(1)),
        ("extend", |all| all.extend(&NdArray::ones([1, 4])?)),
        ("reserve", |all| all.reserve(100)),
        ("shrink_to_fit", |all| all.shrink_to_fit()),
    ];
    for (op, call) in calls {
        let mut all = GrowArray::new(DType::F32, [4], 0).expect("memory");
        all.push(7).expect("memory");
        let seen = all.view();
        let guard = seen.buffer().write().expect("nobody else has it");
        let error = call(&mut all).expect_err(op);
        drop(guard);
        assert!(
            matches!(error.kind().access(), Some((found, Argument::Z, AccessError::InUse(_))) if found == op),
            "{op}: {error}"
        );
        assert!(error.location().file().contains("made"), "{op}: {error}");
        assert_eq!((all.len(), all.view().sum_number().ok()), (1, Some(28.0)));
    }
}

/// An operation that makes an array.
type Making = (&'static str, fn(&NdArray) -> Result<NdArray>);

const MAKING: &[Making] = &[
    ("add", |a| a.add(1)),
    ("dup", |a| a.dup()),
    ("cast", |a| a.cast(DType::F64)),
    ("sum", |a| a.sum(0)),
    ("median", |a| a.median(0)),
    ("percentile", |a| a.percentile(5.0, ..)),
    ("sort", |a| a.sort(0)),
    ("argsort", |a| a.argsort(0)),
    ("topk", |a| Ok(a.topk(2, 0)?.0)),
    ("unique", |a| a.unique()),
    ("unique_all", |a| Ok(a.unique_all()?.values)),
    ("histogram", |a| Ok(a.histogram(3)?.0)),
    ("digitize", |a| a.digitize(&NdArray::from([1.0f32]), false)),
    ("bincount", |a| a.cast(DType::I32)?.bincount(0)),
    ("take", |a| a.take(&NdArray::from([0i64]), 0)),
    ("get_rows", |a| a.get_rows([0])),
    ("get_fancy", |a| a.get_fancy(&fancy![[0, 1]])),
    ("get_outer", |a| a.get_outer(&fancy![[0, 1]])),
    ("select", |a| a.less(2)?.select(a, 0)),
    ("select_where", |a| a.select_where(Condition::less(9))),
    ("nonzero", |a| a.nonzero()),
    ("concat", |a| NdArray::concat(&[a, a], 0)),
    ("stack", |a| NdArray::stack(&[a, a], 0)),
    ("to_flattened", |a| NdArray::to_flattened(Order::F, &[a, a])),
    ("tile", |a| a.tile([2, 2])),
    ("is_in", |a| a.is_in(a)),
    ("union", |a| a.union(a)),
    ("insert", |a| a.insert([1], 0, 0)),
    ("delete", |a| a.delete([1], 0)),
    ("block", |a| NdArray::block(&[&[a, a]])),
    ("dstack", |a| NdArray::dstack(&[a, a])),
    ("roll_axes", |a| a.roll_axes([1], [0])),
    ("round_to", |a| a.round_to(1)),
    ("to_radians", |a| a.to_radians()),
    ("copysign", |a| a.copysign(1)),
    ("indices", |_| NdArray::indices([3])),
    ("geomspace", |_| NdArray::geomspace(1, 5, 3)),
    ("repeat", |a| a.repeat(2, 0)),
    ("roll", |a| a.roll(1, 0)),
    ("pad", |a| a.pad([1, 1], 0)),
    ("matmul", |a| a.matmul(a)),
    ("softmax", |a| a.softmax(0)),
    ("eps_equal", |a| a.eps_equal(1, 0.1)),
    ("pack", |a| blas::pack(blas::Triangle::Upper, a)),
    ("unpack", |a| {
        blas::unpack(blas::Triangle::Upper, &a.row(0)?)
    }),
    ("full", |_| NdArray::full([3], 2.0)),
    ("ones", |_| NdArray::ones([3])),
    ("arange", |_| NdArray::arange(0, 5, 1)),
    ("linspace", |_| NdArray::linspace(0, 5, 3)),
    ("eye", |_| NdArray::eye(3)),
    ("rand", |_| NdArray::rand([3])),
    ("uniform", |_| rng().uniform([3], 0.0, 1.0)),
    ("normal", |_| rng().normal([3], 0.0, 1.0)),
    ("bernoulli", |_| rng().bernoulli([3], 0.5)),
    ("gamma", |_| rng().gamma([3], 1.0, 1.0)),
    ("orthogonal", |_| rng().orthogonal([3, 3], 1.0)),
    ("dropout", |a| rng().dropout(a, 0.5)),
    ("im2col", |a| {
        a.reshape([1, 1, 3, 3])?.im2col(&Windows::new([2, 2]))
    }),
    ("pool2d", |a| {
        a.reshape([1, 1, 3, 3])?
            .pool2d(Pooling::Max, &Windows::new([2, 2]))
    }),
    #[cfg(feature = "linalg")]
    ("inv", |a| a.add(&NdArray::eye(3)?)?.inv()),
    #[cfg(feature = "linalg")]
    ("solve", |a| a.add(&NdArray::eye(3)?)?.solve(a)),
    #[cfg(feature = "linalg")]
    ("svd", |a| Ok(a.svd()?.u)),
];

/// A stale result names the line that made it, and none of ours.
#[test]
fn results_were_allocated_where_the_operation_was_called() {
    let a = NdArray::ones([3, 3]).expect("memory");
    let mut failures = Vec::new();
    for (name, call) in MAKING {
        let made = Workspace::new("INNER").scope(|_| call(&a)).expect("opens");
        let text = match made {
            Ok(made) => made.to_bytes().expect_err("stale").to_string(),
            Err(error) => format!("failed: {error}"),
        };
        if !text.contains(concat!("was allocated at ", file!())) {
            failures.push(format!("{name}: {text}"));
        }
    }
    report(MAKING.len(), &failures);
}
