//! What a kernel is given, and the one place where kernels open guards.
//!
//! An [`Operand`] is a buffer with a layout proven to stay inside it. `Open` turns the operands of a call into pointers:
//! every check of the memory rules has passed when it exists, and none can be forgotten, because there is no other way
//! from an operand to its bytes.

use crate::error::{KernelError, Result};
use lodestride_buffer::{Argument, Buffer, DType, ReadGuard, Scalar, WriteGuard};
use lodestride_shape::{Layout, Shape};
use smallvec::SmallVec;

/// An array as kernels see it: bytes, where the elements are, and what they are.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    buffer: &'a Buffer,
    /// Invariant: every element `layout` reaches, of the size of `dtype`, lies inside `buffer`, whose length never changes.
    layout: &'a Layout,
    dtype: Word,
}

/// A dtype as wide as a pointer. Operands are made for a call and copied on its way; a field narrower than what copies move
/// would have to reach the cache before the copy could go on.
macro_rules! word {
    ($($Dtype:ident),*) => {
        #[derive(Clone, Copy, Debug)]
        #[repr(usize)]
        enum Word { $($Dtype),* }

        impl From<DType> for Word {
            #[inline(always)]
            fn from(dtype: DType) -> Word {
                match dtype { $(DType::$Dtype => Word::$Dtype),* }
            }
        }

        impl From<Word> for DType {
            #[inline(always)]
            fn from(word: Word) -> DType {
                match word { $(Word::$Dtype => DType::$Dtype),* }
            }
        }
    };
}

word!(
    Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64
);

impl<'a> Operand<'a> {
    /// Binds a layout to a buffer and proves that it stays inside.
    ///
    /// # Errors
    /// [`KernelError::Shape`] where the layout reaches beyond the buffer.
    #[inline(always)]
    pub fn new(buffer: &'a Buffer, layout: &'a Layout, dtype: DType) -> Result<Operand<'a>> {
        // Sizes are powers of two, and a shift is not a division, which would be the slowest step of a small call.
        if !layout.fits(buffer.len() >> dtype.size().trailing_zeros()) {
            return Err(Operand::beyond(buffer, layout, dtype));
        }
        Ok(Operand {
            buffer,
            layout,
            dtype: dtype.into(),
        })
    }

    #[cold]
    fn beyond(buffer: &Buffer, layout: &Layout, dtype: DType) -> KernelError {
        match layout.check_fits(buffer.len() / dtype.size()) {
            Err(source) => KernelError::Shape {
                op: "operand",
                source,
            },
            Ok(()) => unreachable!("called for a layout that does not fit"),
        }
    }

    /// The buffer.
    #[inline]
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    /// Where the elements are.
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// What the elements are.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype.into()
    }

    /// The shape.
    #[inline]
    pub fn shape(&self) -> &'a Shape {
        self.layout.shape()
    }

    /// The number of elements.
    #[inline]
    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// Opens the operand for reading.
    ///
    /// # Errors
    /// [`KernelError::Access`].
    #[inline(always)]
    pub(crate) fn read(&self, op: &'static str, argument: Argument) -> Result<ReadGuard<'a>> {
        self.buffer
            .read()
            .map_err(|source| self.refused(op, argument, source))
    }

    /// Opens the operand for writing.
    ///
    /// # Errors
    /// [`KernelError::Access`].
    #[inline(always)]
    pub(crate) fn write(&self, op: &'static str, argument: Argument) -> Result<WriteGuard<'a>> {
        self.buffer
            .write()
            .map_err(|source| self.refused(op, argument, source))
    }

    /// The error of an operand whose guard was refused.
    #[cold]
    pub(crate) fn refused(
        &self,
        op: &'static str,
        argument: Argument,
        source: lodestride_buffer::AccessError,
    ) -> KernelError {
        KernelError::Access {
            op,
            argument,
            source,
            dtype: self.dtype(),
            shape: Box::new(self.shape().clone()),
        }
    }

    /// Refuses a shape other than `expected`.
    ///
    /// # Errors
    /// [`KernelError::ShapeMismatch`].
    #[inline]
    pub(crate) fn check_shape(
        &self,
        op: &'static str,
        argument: Argument,
        expected: &Shape,
    ) -> Result<()> {
        if self.shape() == expected {
            return Ok(());
        }
        Err(KernelError::ShapeMismatch {
            op,
            argument,
            found: Box::new(self.shape().clone()),
            expected: Box::new(expected.clone()),
        })
    }

    /// Refuses a destination with positions that share an element.
    ///
    /// # Errors
    /// [`KernelError::Shape`].
    #[inline]
    pub(crate) fn check_writable(&self, op: &'static str) -> Result<()> {
        self.layout.check_writable().map_err(KernelError::shape(op))
    }
}

/// Where a result goes: an array, which may have been opened already because it is new.
#[derive(Debug)]
pub struct Output<'a> {
    operand: Operand<'a>,
    guard: Option<WriteGuard<'a>>,
}

impl<'a> Output<'a> {
    /// An opened buffer with a layout that is proven to stay inside it.
    ///
    /// # Errors
    /// As [`Operand::new`].
    #[inline(always)]
    pub fn opened(guard: WriteGuard<'a>, layout: &'a Layout, dtype: DType) -> Result<Output<'a>> {
        Ok(Output {
            operand: Operand::new(guard.buffer(), layout, dtype)?,
            guard: Some(guard),
        })
    }

    /// The array.
    #[inline(always)]
    pub(crate) fn operand(&self) -> &Operand<'a> {
        &self.operand
    }

    /// The array and its door.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&Operand<'a>, Door<'_, 'a>) {
        let door = Door {
            operand: &self.operand,
            guard: &mut self.guard,
        };
        (&self.operand, door)
    }

    /// As [`Door::open`].
    ///
    /// # Errors
    /// [`KernelError::Access`].
    #[inline]
    pub(crate) fn guard(&mut self, op: &'static str) -> Result<&mut WriteGuard<'a>> {
        self.parts().1.open(op)
    }

    /// The array, closed: for what opens all operands of a call together.
    #[inline]
    pub(crate) fn close(&mut self) -> Operand<'a> {
        self.guard = None;
        self.operand
    }
}

/// The door of an output, which stays open as long as the output lives.
pub(crate) struct Door<'o, 'a> {
    operand: &'o Operand<'a>,
    guard: &'o mut Option<WriteGuard<'a>>,
}

impl<'o, 'a> Door<'o, 'a> {
    /// Opens the array unless it is open.
    ///
    /// # Errors
    /// [`KernelError::Access`].
    #[inline(always)]
    pub(crate) fn open(self, op: &'static str) -> Result<&'o mut WriteGuard<'a>> {
        match self.guard {
            Some(guard) => Ok(guard),
            closed => Ok(closed.get_or_insert(self.operand.write(op, Argument::Z)?)),
        }
    }
}

impl<'a> From<Operand<'a>> for Output<'a> {
    #[inline]
    fn from(operand: Operand<'a>) -> Self {
        Output {
            operand,
            guard: None,
        }
    }
}

/// An operand that is read: an array, or one number for all positions.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// An array of the output's shape (broadcast axes have stride 0).
    Array(Operand<'a>),
    /// A number of weak dtype.
    Scalar(Scalar),
}

impl<'a> Input<'a> {
    /// The array, if it is one.
    pub fn array(&self) -> Option<&Operand<'a>> {
        match self {
            Input::Array(operand) => Some(operand),
            Input::Scalar(_) => None,
        }
    }
}

impl<'a> From<Operand<'a>> for Input<'a> {
    #[inline]
    fn from(operand: Operand<'a>) -> Self {
        Input::Array(operand)
    }
}

impl From<Scalar> for Input<'_> {
    #[inline]
    fn from(scalar: Scalar) -> Self {
        Input::Scalar(scalar)
    }
}

/// The operands of one call, opened: guards, and the pointers they give out.
#[derive(Debug)]
pub(crate) struct Open<'a> {
    /// The start of each output's buffer, in the order given.
    pub(crate) outputs: SmallVec<[*mut u8; 2]>,
    /// The start of each input's buffer, in the order given.
    pub(crate) inputs: SmallVec<[*const u8; 4]>,
    /// Guards stay open as long as this lives; an output's covers the inputs in the same buffer.
    writers: SmallVec<[WriteGuard<'a>; 2]>,
    readers: SmallVec<[ReadGuard<'a>; 3]>,
}

impl<'a> Open<'a> {
    /// Opens outputs for writing and inputs for reading, each buffer once.
    ///
    /// # Errors
    /// [`KernelError::Access`] naming the first operand refused.
    pub(crate) fn new(
        op: &'static str,
        outputs: &[(Argument, Operand<'a>)],
        inputs: &[(Argument, Operand<'a>)],
    ) -> Result<Open<'a>> {
        let mut open = Open {
            outputs: SmallVec::new(),
            inputs: SmallVec::new(),
            writers: SmallVec::new(),
            readers: SmallVec::new(),
        };
        for (index, (argument, output)) in outputs.iter().enumerate() {
            let earlier = outputs[..index]
                .iter()
                .position(|(_, other)| other.buffer.same_block(output.buffer));
            let pointer = match earlier {
                Some(earlier) => open.outputs[earlier],
                None => {
                    open.writers.push(output.write(op, *argument)?);
                    let last = open.writers.len() - 1;
                    open.writers[last].as_mut_ptr()
                }
            };
            open.outputs.push(pointer);
        }
        for (argument, input) in inputs {
            let shared = outputs
                .iter()
                .position(|(_, output)| output.buffer.same_block(input.buffer));
            let pointer = match shared {
                Some(output) => open.outputs[output].cast_const(),
                None => {
                    let guard = input.read(op, *argument)?;
                    let pointer = guard.as_ptr();
                    open.readers.push(guard);
                    pointer
                }
            };
            open.inputs.push(pointer);
        }
        Ok(open)
    }
}
