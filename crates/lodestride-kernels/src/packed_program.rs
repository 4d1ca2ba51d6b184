//! The shortest way of a fused program: one kernel, and small arrays that lie gap-free from the start of their buffers.
#![expect(
    unsafe_code,
    reason = "opened buffers are handed to an erased kernel as raw pointers"
)]

use crate::dense::SMALL;
use crate::moments;
use crate::program::Program;
use crate::program_builder::Loaded;
use lodestride_buffer::Buffer;

/// The most that a kernel loads.
const MOST: usize = 3;

/// What stands for one of the loads of a kernel.
#[derive(Clone, Copy)]
enum Given<'b> {
    Nothing,
    Constant(*const u8),
    Array(&'b Buffer),
}

impl Program {
    /// Whether the program is one kernel with one output, and `n` elements are few enough for [`run_packed`](Program::run_packed).
    #[inline]
    pub fn suits_packed(&self, n: usize) -> bool {
        let is_one = self.outputs() == 1 && self.code.sole_call().is_some();
        let are_few = n <= SMALL / ((MOST + 1) * size_of::<u64>());
        is_one && are_few && self.built.loads.len() <= MOST
    }

    /// Computes the first `n` elements of the only output from those of the inputs, all in the program's dtypes and from the start of
    /// their buffers.
    ///
    /// It does what [`run`](Program::run) does, or nothing: false, with nothing written, where the program is more than one kernel, the
    /// operands are many, large or too short, the output is one of the inputs, or one of them cannot be opened.
    ///
    /// ```
    /// use lodestride_buffer::{Buffer, DType};
    /// use lodestride_kernels::{BinaryOp, Operand, ProgramBuilder};
    ///
    /// let mut builder = ProgramBuilder::new("sum");
    /// let (x, y) = (builder.load(DType::F32), builder.load(DType::F32));
    /// let sum = builder.binary(BinaryOp::Add, x, y)?;
    /// builder.store(sum);
    /// let program = builder.finish();
    /// let (x, y, out) = (Buffer::from_vec(vec![1.0f32, 2.0])?, Buffer::from_vec(vec![0.5f32; 2])?, Buffer::zeroed(8)?);
    /// assert!(program.suits_packed(2) && program.run_packed(2, &[&x, &y], &out));
    /// assert_eq!(out.read()?.slice::<f32>(), [1.5, 2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_packed(&self, n: usize, inputs: &[&Buffer], out: &Buffer) -> bool {
        let ([result], loads) = (self.built.stores.as_slice(), self.built.loads.as_slice()) else {
            return false;
        };
        let Some(call) = self.code.sole_call() else {
            return false;
        };
        if !self.suits_packed(n) || inputs.len() != self.built.inputs {
            return false;
        }
        if n * self.built.dtypes[result.0].size() > out.len() {
            return false;
        }
        let mut given = [Given::Nothing; MOST];
        let mut inputs = inputs.iter();
        for (given, load) in given.iter_mut().zip(loads) {
            *given = match load {
                Loaded::Constant(word, _) => Given::Constant(std::ptr::from_ref(word).cast()),
                Loaded::Input(dtype) => match inputs.next() {
                    Some(input) if n * dtype.size() <= input.len() => Given::Array(input),
                    _ => return false,
                },
            };
        }
        let arrays = given.map(|given| match given {
            Given::Array(buffer) => Some(buffer),
            Given::Nothing | Given::Constant(_) => None,
        });
        let compute = |dst: *mut u8, opened: [*const u8; MOST]| {
            // Slot 0 is the output, which stands where the kernel has no source.
            let source = |slot: u16| match usize::from(slot).checked_sub(1) {
                Some(load) => match given[load] {
                    Given::Constant(word) => word,
                    Given::Array(_) | Given::Nothing => opened[load],
                },
                None => dst.cast_const(),
            };
            let [a, b, c] = call.sources.map(source);
            // SAFETY: the buffers are open and hold `n` elements of the dtypes that the program loads and stores from their start,
            // aligned; the output is none of the inputs; a constant is one element.
            unsafe { (call.kernel)(n, dst, a, b, c) };
        };
        // SAFETY: a kernel uses no buffers, and has few elements to go through.
        unsafe { moments::writing_beside(out, arrays, compute) }
    }
}
