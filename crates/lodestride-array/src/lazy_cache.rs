//! The programs of a thread's latest expressions, so that an expression in a loop is compiled once and not at every turn.
//!
//! A program depends on the operations, the numbers and the dtypes of the arrays, not on shapes, strides or memory.

use std::cell::RefCell;
use std::rc::Rc;

use lodestride_buffer::{DType, Scalar};
use lodestride_kernels::{self as kernels, BinaryOp, Isa, Program, UnaryOp};
use smallvec::SmallVec;

use crate::NdArray;
use crate::lazy::{Lazy, Node};

/// Programs that a thread keeps.
const KEPT: usize = 8;
/// Nodes of the largest expression whose program is kept: larger ones take longer to run than to compile.
const LARGEST: usize = 24;

thread_local! {
    static LATEST: RefCell<Latest> = const { RefCell::new(Latest { programs: Vec::new(), next: 0 }) };
}

struct Latest {
    programs: Vec<Kept>,
    /// Which of them the next one takes the place of.
    next: usize,
}

/// A program and what it was made from.
struct Kept {
    op: &'static str,
    isa: Isa,
    nodes: SmallVec<[Key; 6]>,
    program: Rc<Program>,
}

/// A node without its array: the array's place among those of the expression, and its dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Array(usize, DType),
    Number(u8, u64),
    Unary(UnaryOp, usize),
    Binary(BinaryOp, usize, usize),
    Cast(DType, usize),
}

impl Key {
    #[inline]
    fn of(node: &Node<'_>, arrays: &[&NdArray]) -> Key {
        match *node {
            Node::Array(array) => {
                let at = arrays.iter().position(|known| std::ptr::eq(*known, array));
                Key::Array(at.unwrap_or_default(), array.dtype())
            }
            // By their bits: zeros of both signs make different programs, and a NaN is like itself.
            Node::Number(Scalar::Bool(value)) => Key::Number(0, u64::from(value)),
            Node::Number(Scalar::Int(value)) => Key::Number(1, value.cast_unsigned()),
            Node::Number(Scalar::UInt(value)) => Key::Number(2, value),
            Node::Number(Scalar::Float(value)) => Key::Number(3, value.to_bits()),
            Node::Unary(op, x) => Key::Unary(op, x),
            Node::Binary(op, x, y) => Key::Binary(op, x, y),
            Node::Cast(dtype, x) => Key::Cast(dtype, x),
        }
    }
}

impl Kept {
    fn is_of(&self, op: &'static str, isa: Isa, nodes: &[Node<'_>], arrays: &[&NdArray]) -> bool {
        let same = |(key, node): (&Key, &Node<'_>)| *key == Key::of(node, arrays);
        self.nodes.len() == nodes.len()
            && self.isa == isa
            && self.op == op
            && self.nodes.iter().zip(nodes).all(same)
    }
}

impl Latest {
    fn find(
        &self,
        op: &'static str,
        isa: Isa,
        nodes: &[Node<'_>],
        arrays: &[&NdArray],
    ) -> Option<Rc<Program>> {
        let is_it = |kept: &&Kept| kept.is_of(op, isa, nodes, arrays);
        let kept = self.programs.iter().find(is_it)?;
        Some(Rc::clone(&kept.program))
    }

    fn keep(&mut self, kept: Kept) {
        if self.programs.len() < KEPT {
            self.programs.push(kept);
            return;
        }
        self.programs[self.next] = kept;
        self.next = (self.next + 1) % KEPT;
    }
}

impl Lazy<'_> {
    /// The program of the expression, by the name that errors carry: one that the thread has, or a new one.
    pub(crate) fn compiled(
        &self,
        op: &'static str,
        arrays: &[&NdArray],
    ) -> kernels::Result<Rc<Program>> {
        let (isa, nodes) = (Isa::detect(), self.nodes());
        let known = LATEST.try_with(|latest| latest.borrow().find(op, isa, nodes, arrays));
        if let Ok(Some(program)) = known {
            return Ok(program);
        }
        let program = Rc::new(self.program(op, arrays)?);
        if nodes.len() <= LARGEST {
            let kept = Kept {
                op,
                isa,
                nodes: nodes.iter().map(|node| Key::of(node, arrays)).collect(),
                program: Rc::clone(&program),
            };
            // A thread that is ending keeps nothing.
            let _ending = LATEST.try_with(|latest| latest.borrow_mut().keep(kept));
        }
        Ok(program)
    }
}
