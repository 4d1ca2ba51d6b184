//! Two arithmetic operations in one loop, `second(first(a, b), c)`: with two or three operands a fused program would
//! otherwise spend as long on its tiles as on memory.
//!
//! Only the commonest pairs of f32 and f64, and only for vector instruction sets: every pair is compiled once per dtype
//! and set. Each operation is rounded by itself, so the results are those of the two loops.

use crate::isa::{Level, RawKernel};
use crate::op::{BinaryOp, binary_op};
use crate::plan::{Action, Source, Step};
use crate::scalar::Binary;
use crate::scalar::arith::Quotient;
use crate::table::{Pair, TernaryKernel};
use lodestride_buffer::DType;

/// The loop of a pair, where there is one.
fn kernel(first: BinaryOp, second: BinaryOp, dtype: DType, level: Level) -> Option<RawKernel> {
    match dtype {
        DType::F32 => of::<f32>(first, second, level),
        DType::F64 => of::<f64>(first, second, level),
        _ => None,
    }
}

fn of<T: Quotient>(first: BinaryOp, second: BinaryOp, level: Level) -> Option<RawKernel> {
    match first {
        BinaryOp::Add => after::<binary_op::Add, T>(second, level),
        BinaryOp::Sub => after::<binary_op::Sub, T>(second, level),
        BinaryOp::Mul => after::<binary_op::Mul, T>(second, level),
        BinaryOp::Div => after::<binary_op::Div, T>(second, level),
        BinaryOp::SquaredDifference => after::<binary_op::SquaredDifference, T>(second, level),
        _ => None,
    }
}

fn after<F: Binary<T, Out = T> + 'static, T: Quotient>(
    second: BinaryOp,
    level: Level,
) -> Option<RawKernel> {
    match second {
        BinaryOp::Add => level.wide_kernel::<Pair<F, binary_op::Add, T>>(),
        BinaryOp::Sub => level.wide_kernel::<Pair<F, binary_op::Sub, T>>(),
        BinaryOp::RSub => level.wide_kernel::<Pair<F, binary_op::RSub, T>>(),
        BinaryOp::Mul => level.wide_kernel::<Pair<F, binary_op::Mul, T>>(),
        BinaryOp::Div => level.wide_kernel::<Pair<F, binary_op::Div, T>>(),
        BinaryOp::RDiv => level.wide_kernel::<Pair<F, binary_op::RDiv, T>>(),
        _ => None,
    }
}

/// What a step computes, where pairs want to know: an operation in its compute dtype.
pub(crate) type Arithmetic = Option<(BinaryOp, DType)>;

/// Joins steps with the one step that uses their result, where a loop for the two exists. `kept` are the values wanted
/// outside; they are renumbered with the steps.
pub(crate) fn join(
    steps: &mut Vec<Step>,
    arithmetic: &[Arithmetic],
    kept: &mut [Source],
    level: Level,
) {
    let mut uses = vec![0usize; steps.len()];
    for source in steps.iter().flat_map(|step| step.action.sources()) {
        count(&mut uses, source);
    }
    kept.iter().for_each(|source| count(&mut uses, *source));
    let mut known = arithmetic.to_vec();
    let mut joined = vec![false; steps.len()];
    for number in 0..steps.len() {
        let mut joiner = Joiner {
            steps,
            known: &mut known,
            uses: &uses,
            level,
        };
        if let Some(absorbed) = joiner.square(number) {
            joined[absorbed] = true;
        }
        if let Some(absorbed) = joiner.pair(number) {
            joined[absorbed] = true;
        }
    }
    renumber(steps, &joined, kept);
}

fn count(uses: &mut [usize], source: Source) {
    if let Source::Step(step) = source {
        uses[step] += 1;
    }
}

/// Takes the joined steps out.
fn renumber(steps: &mut Vec<Step>, joined: &[bool], kept: &mut [Source]) {
    let mut next = 0;
    let numbers: Vec<usize> = joined
        .iter()
        .map(|&gone| {
            next += usize::from(!gone);
            next - usize::from(!gone)
        })
        .collect();
    let moved = |source: Source| match source {
        Source::Step(step) => Source::Step(numbers[step]),
        Source::Load(_) => source,
    };
    let mut gone = joined.iter();
    steps.retain(|_| gone.next() != Some(&true));
    for step in steps.iter_mut() {
        step.action = step.action.map_sources(moved);
    }
    for source in kept {
        *source = moved(*source);
    }
}

struct Joiner<'j> {
    steps: &'j mut [Step],
    known: &'j mut [Arithmetic],
    uses: &'j [usize],
    level: Level,
}

impl Joiner<'_> {
    /// The operands of an arithmetic step.
    fn operands(&self, step: usize) -> Option<(BinaryOp, DType, Source, Source)> {
        let (op, dtype) = self.known[step]?;
        match self.steps[step].action {
            Action::Binary(_, a, b) => Some((op, dtype, a, b)),
            // Known unary steps are squares.
            Action::Unary(_, a) => Some((op, dtype, a, a)),
            Action::Ternary(..) | Action::Cast(..) | Action::Closure(..) => None,
        }
    }

    /// The square of a difference used nowhere else becomes one step; gives the step that is no longer needed.
    fn square(&mut self, number: usize) -> Option<usize> {
        let (op, dtype, a, b) = self.operands(number)?;
        let Source::Step(inner) = a else { return None };
        let mentions = self.steps[number].action.sources().count();
        if op != BinaryOp::Mul || a != b || self.uses[inner] != mentions {
            return None;
        }
        let (BinaryOp::Sub, _, x, y) = self.operands(inner)? else {
            return None;
        };
        let op = BinaryOp::SquaredDifference;
        let kernel = crate::op::binary_kernel(op, dtype, self.level)?;
        self.steps[number].action = Action::Binary(kernel, x, y);
        self.known[number] = Some((op, dtype));
        Some(inner)
    }

    /// A step and the one that makes one of its operands become a pair; gives the step that is no longer needed.
    fn pair(&mut self, number: usize) -> Option<usize> {
        let (op, dtype, a, b) = self.operands(number)?;
        let mirrored = op.reversed().map(|op| (op, b, a));
        for (second, operand, other) in [Some((op, a, b)), mirrored].into_iter().flatten() {
            let Source::Step(inner) = operand else {
                continue;
            };
            if self.uses[inner] != 1 || other == operand {
                continue;
            }
            let Some((first, _, x, y)) = self.operands(inner) else {
                continue;
            };
            if let Some(kernel) = kernel(first, second, dtype, self.level) {
                let kernel = TernaryKernel {
                    map: kernel,
                    in_place: None,
                };
                self.steps[number].action = Action::Ternary(kernel, x, y, other);
                self.known[number] = None;
                return Some(inner);
            }
        }
        None
    }
}
