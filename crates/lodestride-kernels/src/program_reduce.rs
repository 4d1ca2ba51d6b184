//! Programs that end in a reduction: the values are computed a tile at a time and folded at once, so that they never reach
//! memory.
//!
//! To the walk of a reduction the program is one more kind of source: what other sources load, it computes. So every
//! reduction works, over any axes, in the order of blocks that it has for arrays.

use crate::door;
use crate::driver::place;
use crate::error::{KernelError, Result};
use crate::frame::Setup;
use crate::isa::Level;
use crate::numeric::Compute;
use crate::operand::{Input, Open, Operand};
use crate::plan::Load;
use crate::program::{Program, check_count};
use crate::reduce::{self, ReduceOp};
use crate::walk::{Place, Target, Walk};
use lodestride_buffer::{Argument, Buffer, DType};
use lodestride_shape::{Layout, LoopNest, Order};
use smallvec::SmallVec;

/// The values of a program, computed when they are asked for. They count as dense in memory, from element 0 on.
#[derive(Debug)]
pub(crate) struct Computed<'a> {
    walk: &'a Walk<'a, 'a>,
    setup: &'a Setup<'a>,
    dtype: DType,
}

impl Computed<'_> {
    /// Computes the values from `offset` on, every `stride`-th.
    pub(crate) fn load<C: Compute>(&self, offset: isize, stride: isize, out: &mut [C]) {
        assert_eq!(
            self.dtype,
            C::DTYPE,
            "reductions ask for what they compute in"
        );
        let start = offset.cast_unsigned();
        if stride == 1 || out.len() <= 1 {
            self.walk.fill(self.setup, start, out);
            return;
        }
        for (index, value) in out.iter_mut().enumerate() {
            let at = offset + index.cast_signed() * stride;
            let one = std::slice::from_mut(value);
            self.walk.fill(self.setup, at.cast_unsigned(), one);
        }
    }
}

impl Program {
    /// Reduces the only output over `axes` into `out`, in one pass: what [`run`](Program::run) and then
    /// [`reduce`](crate::reduce()) would compute, without the array between them.
    ///
    /// `out` has the inputs' shape without the axes. The order of additions is that of a reduction of elements that have to
    /// be converted first, so the result may differ from the two calls in the last place; it depends neither on the number
    /// of threads nor on the instruction set. `out` may share memory with inputs.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, DType};
    /// use lodestride_kernels::{BinaryOp, Operand, ProgramBuilder, ReduceOp};
    /// use lodestride_shape::{Layout, Order};
    ///
    /// // The inner product of two vectors.
    /// let mut program = ProgramBuilder::new("inner");
    /// let (x, y) = (program.load(DType::F32), program.load(DType::F32));
    /// let product = program.binary(BinaryOp::Mul, x, y)?;
    /// program.store(product);
    /// let program = program.finish();
    ///
    /// let (x, out) = (Buffer::from_vec(vec![1.0f32, 2.0, 3.0])?, Buffer::zeroed(4)?);
    /// let (line, point) = (Layout::contiguous([3], Order::C)?, Layout::scalar());
    /// let x = Operand::new(&x, &line, DType::F32)?;
    /// program.reduce(ReduceOp::Sum, &[x.into(), x.into()], &[0], Operand::new(&out, &point, DType::F32)?)?;
    /// assert_eq!(out.read()?.slice::<f32>(), [14.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::Count`] for a wrong number of inputs, for none that is an array, or for a program that has not one
    /// output; else as [`run`](Program::run) and [`reduce`](crate::reduce()). Nothing is written then.
    pub fn reduce(
        &self,
        op: ReduceOp,
        inputs: &[Input<'_>],
        axes: &[usize],
        out: Operand<'_>,
    ) -> Result<()> {
        let name = self.name();
        check_count(name, "inputs", self.inputs(), inputs.len())?;
        check_count(name, "outputs to be reduced", 1, self.outputs())?;
        let mut arrays = inputs.iter().filter_map(Input::array);
        let Some(shape) = arrays.next().map(|first| first.shape().clone()) else {
            return check_count(name, "arrays among the inputs", 1, 0);
        };
        let copies = private_copies(name, inputs, out)?;
        let mut apart: SmallVec<[Input<'_>; 4]> = SmallVec::new();
        for (input, copy) in inputs.iter().zip(&copies) {
            apart.push(match (input, copy) {
                (Input::Array(x), Some(copy)) => Operand::new(copy, x.layout(), x.dtype())?.into(),
                _ => *input,
            });
        }
        let layout =
            Layout::contiguous(shape, common_order(&apart)).map_err(KernelError::shape(name))?;
        self.reduce_apart(op, (&apart, &layout), axes, out)
    }

    /// [`Program::reduce`] of inputs apart from the output, whose values count as lying by a dense layout.
    fn reduce_apart(
        &self,
        op: ReduceOp,
        (inputs, layout): (&[Input<'_>], &Layout),
        axes: &[usize],
        out: Operand<'_>,
    ) -> Result<()> {
        let value = self.output_dtype(0).unwrap_or(out.dtype());
        let dtype = op.compute_kind(value).dtype();
        let run = self.bind(inputs, layout.shape())?;
        let steps = self.steps(&run, &[dtype]);
        let plan = steps.plan(self, &run, &[]);
        let mut operands: SmallVec<[(Argument, Operand<'_>); 4]> = SmallVec::new();
        for load in plan.loads {
            if let Load::Array(argument, operand) = *load {
                operands.push((argument, operand));
            }
        }
        let open = Open::new(plan.op, &[], &operands)?;
        let mut places: SmallVec<[Place; 6]> = SmallVec::new();
        let mut strides: SmallVec<[&[isize]; 6]> = SmallVec::new();
        // Every tile says where the values go.
        places.push(Place {
            base: std::ptr::null_mut(),
            size: dtype.size(),
            shared: false,
            gaps: false,
        });
        strides.push(layout.strides().as_slice());
        for ((_, operand), start) in operands.iter().zip(&open.inputs) {
            places.push(place(operand, start.cast_mut()));
            strides.push(operand.layout().strides().as_slice());
        }
        let nest = LoopNest::new(layout.shape(), &strides);
        let walk = Walk::new(&plan, &nest, places, Target::Tile);
        let code = walk.code(Level::current());
        let setup = walk.setup(&code);
        let values = Computed {
            walk: &walk,
            setup: &setup,
            dtype,
        };
        reduce::reduce_computed(op, (&values, layout, value), axes, out)
    }
}

/// Copies of the inputs that share the output's buffer.
fn private_copies(
    op: &'static str,
    inputs: &[Input<'_>],
    out: Operand<'_>,
) -> Result<SmallVec<[Option<Buffer>; 4]>> {
    let mut copies = SmallVec::new();
    for (index, input) in inputs.iter().enumerate() {
        copies.push(match input {
            Input::Array(x) => door::private_copy(op, Argument::Input(index), *x, &[out])?,
            Input::Scalar(_) => None,
        });
    }
    Ok(copies)
}

/// The memory order the values count as having: that of the arrays if all are in F order.
fn common_order(inputs: &[Input<'_>]) -> Order {
    let arrays = || inputs.iter().filter_map(Input::array);
    let all = |order| arrays().all(|x| x.layout().is_contiguous(order));
    if all(Order::F) && !all(Order::C) {
        Order::F
    } else {
        Order::C
    }
}
