//! Rows of arrays that grow and of random numbers; and operations that read no array, which only the checks see.

use lodestride_array::{AccessError, Argument, DType, GrowArray, NdArray, Result, Rng, Workspace};

use super::table::{Row, row};

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
