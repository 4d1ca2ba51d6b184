//! Conditions: tests of single elements as values, which can be named, joined and passed on. They are computed in one pass.
//!
//! What is done where a condition holds is in `conditional` and `masks`.

use std::ops::{BitAnd, BitOr, Not};

use lodestride_buffer::{Argument, DType, Scalar};
use lodestride_kernels::{BinaryOp, UnaryOp};
use smallvec::SmallVec;

use crate::NdArray;
use crate::arg::Arg;
use crate::compute::promoted;
#[expect(unused_imports, reason = "named in the documentation")]
use crate::error::ArrayErrorKind;
use crate::error::{Result, expect_within};
use crate::lazy::Lazy;

/// How far apart elements may be that ND4J calls equal.
pub const EPS_THRESHOLD: f64 = 1e-5;

/// A test of single elements: ND4J's `Conditions`, made by the functions below and joined by [`and`](Self::and),
/// [`or`](Self::or) and [`not`](Self::not), or `&`, `|` and `!`.
///
/// | ND4J | here |
/// |---|---|
/// | `Conditions.greaterThan(3)`, `absLessThan`, `isNan` ... | [`Condition::greater(3)`](Self::greater), [`abs_less`](Self::abs_less), [`is_nan`](Self::is_nan) |
/// | `new And(a, b)`, `new Not(a)` | `a & b`, `!a` |
/// | `arr.match(c)`, `cond(c)`, `MatchConditionTransform` | [`arr.matches(&c)?`](NdArray::matches), a bool array |
/// | `BooleanIndexing.and(arr, c)`, `or` | `arr.matches(&c)?.all_true()?`, `any_true()?`; along dimensions `all(1)?`, `any(1)?` |
/// | `arr.scan(c)`, `MatchCondition(arr, c)` | `arr.matches(&c)?.count_nonzero_number()?`; along dimensions `count_nonzero(1)?` |
/// | `BooleanIndexing.firstIndex(arr, c)`, along dimensions | `arr.matches(&c)?.first_index()?`, [`first_index_along(1)?`](NdArray::first_index_along) |
/// | `replaceWhere(arr, from, c)`, `CompareAndReplace` | [`arr.replace_where(c, &from)?`](NdArray::replace_where) |
/// | `assignIf(arr, from, c)`, `CompareAndSet` of two arrays | [`arr.assign_if(&from, &c)?`](NdArray::assign_if) |
/// | `applyWhere(arr, c, f)` | [`arr.apply_where(c, f)?`](NdArray::apply_where) |
/// | `chooseFrom(arr, c)`, `getWhere` | [`arr.select_where(c)?`](NdArray::select_where) |
/// | `arr.putWhere(c, from)` | [`arr.put_where(c, &from)?`](NdArray::put_where) |
///
/// ```
/// use lodestride_array::{Condition, NdArray};
///
/// let a = NdArray::from([-2.0f32, 0.5, 7.0, f32::NAN]);
/// let usual = Condition::abs_less(5) & !Condition::is_nan();
/// assert_eq!(a.matches(&usual)?.to_vec::<bool>()?, [true, true, false, false]);
/// a.replace_where(!usual, 0)?;
/// assert_eq!(a.to_vec::<f32>()?, [-2.0, 0.5, 0.0, 0.0]);
/// # Ok::<(), lodestride_array::ArrayError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a condition does nothing until an array is tested with it"]
pub struct Condition {
    /// The parts, operands before what joins them.
    steps: SmallVec<[Step; 3]>,
}

/// A part of a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Compare(BinaryOp, Scalar),
    CompareAbs(BinaryOp, Scalar),
    Near(Scalar, f64),
    Test(UnaryOp),
    And,
    Or,
    Not,
}

/// The functions that compare with a number.
macro_rules! comparisons {
    ($($(#[doc = $doc:literal])+ $name:ident $alias:literal $Step:ident $Op:ident;)*) => {
        impl Condition {
            $(
                $(#[doc = $doc])+
                #[doc(alias = $alias)]
                pub fn $name(number: impl Into<Scalar>) -> Self {
                    Step::$Step(BinaryOp::$Op, number.into()).into()
                }
            )*
        }
    };
}

comparisons! {
    /// The element equals a number exactly; NaN equals nothing.
    equal "equals" Compare Eq;
    /// The element is not exactly a number.
    not_equal "notEquals" Compare Ne;
    /// The element is below a number.
    less "lessThan" Compare Lt;
    /// The element is at most a number.
    less_equal "lessThanOrEqual" Compare Le;
    /// The element is above a number.
    greater "greaterThan" Compare Gt;
    /// The element is at least a number.
    greater_equal "greaterThanOrEqual" Compare Ge;
    /// The element's magnitude equals a number.
    abs_equal "absEquals" CompareAbs Eq;
    /// The element's magnitude is below a number.
    abs_less "absLessThan" CompareAbs Lt;
    /// The element's magnitude is at most a number.
    abs_less_equal "absLessThanOrEqual" CompareAbs Le;
    /// The element's magnitude is above a number.
    abs_greater "absGreaterThan" CompareAbs Gt;
    /// The element's magnitude is at least a number.
    abs_greater_equal "absGreaterThanOrEqual" CompareAbs Ge;
}

impl Condition {
    /// The element is at most [`EPS_THRESHOLD`] away from a number.
    #[doc(alias = "epsEquals")]
    pub fn eps_equal(number: impl Into<Scalar>) -> Self {
        Self::eps_equal_within(number, EPS_THRESHOLD)
    }

    /// The element is at most `eps` away from a number; with a negative or NaN `eps` a test of arrays is an error.
    pub fn eps_equal_within(number: impl Into<Scalar>, eps: f64) -> Self {
        Step::Near(number.into(), eps).into()
    }

    /// The element is more than [`EPS_THRESHOLD`] away from a number, or NaN.
    #[doc(alias = "epsNotEquals")]
    pub fn eps_not_equal(number: impl Into<Scalar>) -> Self {
        !Self::eps_equal(number)
    }

    /// The element is not a number.
    #[doc(alias = "isNan")]
    pub fn is_nan() -> Self {
        Step::Test(UnaryOp::IsNan).into()
    }

    /// The element is plus or minus infinity.
    #[doc(alias = "isInfinite")]
    pub fn is_inf() -> Self {
        Step::Test(UnaryOp::IsInf).into()
    }

    /// The element is neither infinite nor NaN.
    #[doc(alias = "isFinite")]
    pub fn is_finite() -> Self {
        Step::Test(UnaryOp::IsFinite).into()
    }

    /// Both conditions hold.
    pub fn and(self, other: Condition) -> Self {
        self.joined(other, Step::And)
    }

    /// Either condition holds, or both.
    pub fn or(self, other: Condition) -> Self {
        self.joined(other, Step::Or)
    }

    /// The condition does not hold.
    #[expect(
        clippy::should_implement_trait,
        reason = "it does; a method reads better in a chain"
    )]
    pub fn not(mut self) -> Self {
        self.steps.push(Step::Not);
        self
    }

    fn joined(mut self, other: Condition, how: Step) -> Self {
        self.steps.extend(other.steps);
        self.steps.push(how);
        self
    }

    /// The condition of an array's elements, as an expression.
    #[track_caller]
    fn of<'a>(&self, op: &'static str, array: &'a NdArray) -> Result<Lazy<'a>> {
        array.expect_readable(op, Argument::X)?;
        let mut stack: SmallVec<[Lazy<'a>; 4]> = SmallVec::new();
        for step in &self.steps {
            let done = match *step {
                Step::Compare(rule, number) => array.lazy().apply_with(rule, number),
                Step::CompareAbs(rule, number) => magnitude(array).apply_with(rule, number),
                Step::Near(number, eps) => {
                    near(array, Arg::Scalar(number), Tolerance::eps(op, eps)?)
                }
                Step::Test(test) => array.lazy().apply(test),
                Step::And | Step::Or => {
                    let [a, b] =
                        [stack.pop(), stack.pop()].map(|part| part.expect("operands come first"));
                    b.apply_with(
                        if *step == Step::And {
                            BinaryOp::And
                        } else {
                            BinaryOp::Or
                        },
                        a,
                    )
                }
                Step::Not => stack
                    .pop()
                    .expect("operands come first")
                    .apply(UnaryOp::Not),
            };
            stack.push(done);
        }
        Ok(stack.pop().expect("a condition has parts"))
    }
}

impl From<Step> for Condition {
    fn from(step: Step) -> Self {
        let steps = SmallVec::from_iter([step]);
        Self { steps }
    }
}

impl BitAnd for Condition {
    type Output = Condition;

    fn bitand(self, other: Condition) -> Condition {
        self.and(other)
    }
}

impl BitOr for Condition {
    type Output = Condition;

    fn bitor(self, other: Condition) -> Condition {
        self.or(other)
    }
}

impl Not for Condition {
    type Output = Condition;

    fn not(self) -> Condition {
        Condition::not(self)
    }
}

/// The magnitudes of an array's elements, those of signed integers as unsigned ones: the lowest has no other.
fn magnitude(array: &NdArray) -> Lazy<'_> {
    let dtype = array.dtype();
    match unsigned(dtype) {
        Some(wide) if dtype.is_signed() => array.lazy().abs().cast(wide),
        Some(_) => array.lazy(),
        None => array.lazy().abs(),
    }
}

/// The unsigned integer of an integer's width, in which any distance of two fits; `None` for floats.
fn unsigned(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Bool | DType::U8 | DType::I8 => Some(DType::U8),
        DType::U16 | DType::I16 => Some(DType::U16),
        DType::U32 | DType::I32 => Some(DType::U32),
        DType::U64 | DType::I64 => Some(DType::U64),
        _ => None,
    }
}

/// How far apart elements may be that count as equal: `absolute + relative * |second|`.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    absolute: f64,
    relative: f64,
}

impl Tolerance {
    #[track_caller]
    pub(crate) fn new(op: &'static str, relative: f64, absolute: f64) -> Result<Self> {
        for (name, value) in [("relative", relative), ("absolute", absolute)] {
            expect_within(op, name, value, (0.0, f64::INFINITY))?;
        }
        Ok(Self { absolute, relative })
    }

    #[track_caller]
    fn eps(op: &'static str, eps: f64) -> Result<Self> {
        expect_within(op, "eps", eps, (0.0, f64::INFINITY))?;
        let (absolute, relative) = (eps, 0.0);
        Ok(Self { absolute, relative })
    }
}

/// Whether elements are near each other.
fn near<'a>(x: &'a NdArray, y: Arg<'a>, tolerance: Tolerance) -> Lazy<'a> {
    let Tolerance { absolute, relative } = tolerance;
    let with = |x: Lazy<'a>, rule: BinaryOp| match y {
        Arg::Array(y) => x.apply_with(rule, y),
        Arg::Scalar(y) => x.apply_with(rule, y),
    };
    let equal = with(x.lazy(), BinaryOp::Eq);
    let dtype = promoted(x.dtype(), &y);
    let is_plain = relative == 0.0;
    let close = match (unsigned(dtype), y) {
        (Some(_), _) if is_plain && dtype == DType::Bool => {
            return equal.apply_with(BinaryOp::Or, absolute >= 1.0);
        }
        (Some(wide), _) if is_plain => {
            let (high, low) = (with(x.lazy(), BinaryOp::Max), with(x.lazy(), BinaryOp::Min));
            // A tolerance beyond all integers is all integers.
            let limit = absolute.floor().min(u64::MAX as f64) as u64;
            return (high - low).cast(wide).apply_with(BinaryOp::Le, limit);
        }
        (None, _) if is_plain => {
            let apart = with(x.lazy(), BinaryOp::Sub).abs();
            apart.apply_with(BinaryOp::Le, absolute)
        }
        (_, Arg::Array(y)) => {
            let (x, y) = (x.lazy().cast(DType::F64), y.lazy().cast(DType::F64));
            let limit = y.clone().abs() * relative + absolute;
            let finite = y.clone().apply(UnaryOp::IsFinite);
            let close = (x - y).abs().apply_with(BinaryOp::Le, limit);
            // Nothing is near an infinity, but for itself.
            close.apply_with(BinaryOp::And, finite)
        }
        (_, Arg::Scalar(y)) => {
            let y = y.as_f64();
            let limit = absolute + relative * y.abs();
            let limit = if y.is_finite() { limit } else { -1.0 };
            let apart = (x.lazy().cast(DType::F64) - y).abs();
            apart.apply_with(BinaryOp::Le, limit)
        }
    };
    // Equal infinities differ by NaN, so equality counts as well.
    close.apply_with(BinaryOp::Or, equal)
}

impl NdArray {
    /// A mask that is true where a condition holds.
    ///
    /// # Errors
    /// [`ArrayErrorKind::Kernel`] for a number that the array's integer dtype cannot be compared with, a negative
    /// tolerance, and a stale array.
    ///
    /// ```
    /// use lodestride_array::{Condition, NdArray};
    ///
    /// let a = NdArray::from([1.0f32, 2.0, 3.0]);
    /// let mask = a.matches(&Condition::greater(1).and(Condition::less(3)))?;
    /// assert_eq!(mask.to_vec::<bool>()?, [false, true, false]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "cond")]
    #[doc(alias = "match")]
    #[doc(alias = "MatchConditionTransform")]
    #[track_caller]
    pub fn matches(&self, condition: &Condition) -> Result<NdArray> {
        condition.of("matches", self)?.eval_as("matches")
    }

    /// [`matches`](Self::matches) into an array of this shape; allocates nothing.
    ///
    /// # Errors
    /// As [`matches`](Self::matches); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn matches_into(&self, condition: &Condition, out: &NdArray) -> Result<()> {
        out.expect_readable("matches_into", Argument::Z)?;
        condition
            .of("matches_into", self)?
            .eval_into_as("matches_into", out)
    }

    /// A mask that is true where elements are at most `eps` apart; NaN is near nothing, an infinity near itself.
    ///
    /// Integers are compared exactly, whatever their size. ND4J's tolerance is [`EPS_THRESHOLD`]. For one that grows with the
    /// numbers see [`is_close`](Self::is_close).
    ///
    /// # Errors
    /// [`ArrayErrorKind::Broadcast`] when the shapes do not broadcast, [`ArrayErrorKind::Kernel`] for a negative `eps`.
    ///
    /// ```
    /// use lodestride_array::{EPS_THRESHOLD, NdArray};
    ///
    /// let a = NdArray::from([1.0f32, 1e-6, -1e-8]);
    /// assert_eq!(a.eps_equal(0, EPS_THRESHOLD)?.to_vec::<bool>()?, [false, true, true]);
    /// # Ok::<(), lodestride_array::ArrayError>(())
    /// ```
    #[doc(alias = "eps")]
    #[doc(alias = "epsEquals")]
    #[doc(alias = "isclose")]
    #[track_caller]
    pub fn eps_equal<'a>(&self, rhs: impl Into<Arg<'a>>, eps: f64) -> Result<NdArray> {
        let op = "eps_equal";
        self.near(op, rhs.into(), Tolerance::eps(op, eps)?)?
            .eval_as(op)
    }

    /// [`eps_equal`](Self::eps_equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`eps_equal`](Self::eps_equal); [`ArrayErrorKind::OutputShape`] when `out` does not fit.
    #[track_caller]
    pub fn eps_equal_into<'a>(
        &self,
        rhs: impl Into<Arg<'a>>,
        eps: f64,
        out: &NdArray,
    ) -> Result<()> {
        let op = "eps_equal_into";
        out.expect_readable(op, Argument::Z)?;
        self.near(op, rhs.into(), Tolerance::eps(op, eps)?)?
            .eval_into_as(op, out)
    }

    /// A mask that is true where elements are more than `eps` apart or NaN: the opposite of [`eps_equal`](Self::eps_equal).
    ///
    /// # Errors
    /// As [`eps_equal`](Self::eps_equal).
    #[doc(alias = "epsNotEquals")]
    #[track_caller]
    pub fn eps_not_equal<'a>(&self, rhs: impl Into<Arg<'a>>, eps: f64) -> Result<NdArray> {
        let op = "eps_not_equal";
        let near = self.near(op, rhs.into(), Tolerance::eps(op, eps)?)?;
        near.apply(UnaryOp::Not).eval_as(op)
    }

    /// [`eps_not_equal`](Self::eps_not_equal) into an array of the result's shape; allocates nothing.
    ///
    /// # Errors
    /// As [`eps_equal_into`](Self::eps_equal_into).
    #[track_caller]
    pub fn eps_not_equal_into<'a>(
        &self,
        rhs: impl Into<Arg<'a>>,
        eps: f64,
        out: &NdArray,
    ) -> Result<()> {
        let op = "eps_not_equal_into";
        out.expect_readable(op, Argument::Z)?;
        let near = self.near(op, rhs.into(), Tolerance::eps(op, eps)?)?;
        near.apply(UnaryOp::Not).eval_into_as(op, out)
    }

    /// [`near`] of operands that may be read and broadcast together.
    #[track_caller]
    pub(crate) fn near<'l>(
        &'l self,
        op: &'static str,
        rhs: Arg<'l>,
        tolerance: Tolerance,
    ) -> Result<Lazy<'l>> {
        self.expect_comparable(op, rhs)?;
        Ok(near(self, rhs, tolerance))
    }

    /// Checks what is compared.
    #[track_caller]
    pub(crate) fn expect_comparable(&self, op: &'static str, rhs: Arg<'_>) -> Result<()> {
        self.expect_readable(op, Argument::X)?;
        if let Arg::Array(rhs) = rhs {
            rhs.expect_readable(op, Argument::Y)?;
            self.broadcast_with(op, rhs)?;
        }
        Ok(())
    }
}
