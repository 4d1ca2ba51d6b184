//! Parameters of operations called by name: which there are, what a call sets, and what it may not.

use lodestride_buffer::Scalar;
use lodestride_kernels::{ReduceOp, UnaryOp};
use smallvec::SmallVec;

use super::plain;
use crate::error::{ArrayError, ArrayErrorKind, Result};

/// A parameter of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpParameter {
    /// Its name.
    pub name: &'static str,
    /// What it is unless a call sets it; `None` where a call must.
    pub default: Option<f64>,
}

/// What is wrong with the parameters of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParameterProblem {
    /// More values than parameters.
    TooMany {
        /// Values given.
        given: usize,
    },
    /// No parameter has this name.
    Unknown {
        /// The name.
        name: Box<str>,
    },
    /// A parameter without a default was not set.
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// A parameter that counts something, or names an axis, is not a whole number.
    NotWhole {
        /// Its name.
        name: &'static str,
        /// The value given.
        value: f64,
    },
}

const fn parameter(name: &'static str, default: f64) -> OpParameter {
    let default = Some(default);
    OpParameter { name, default }
}

/// The parameters of functions of each element.
pub(crate) const fn unary_parameters(op: UnaryOp) -> &'static [OpParameter] {
    const NONE: &[OpParameter] = &[];
    const SLOPE: &[OpParameter] = &[parameter("alpha", 0.01)];
    const SCALE: &[OpParameter] = &[parameter("alpha", 1.0)];
    const CUTOFF: &[OpParameter] = &[parameter("cutoff", 0.0)];
    const BASE: &[OpParameter] = &[parameter("base", std::f64::consts::E)];
    match op {
        UnaryOp::LeakyRelu => SLOPE,
        UnaryOp::Elu => SCALE,
        UnaryOp::Relu | UnaryOp::Step => CUTOFF,
        UnaryOp::Log => BASE,
        _ => NONE,
    }
}

/// The parameters of reductions. ND4J's flag for the bias correction is a `ddof` of 1 or 0.
pub(super) const fn reduce_parameters(op: ReduceOp) -> &'static [OpParameter] {
    const NONE: &[OpParameter] = &[];
    const POPULATION: &[OpParameter] = &[parameter("ddof", 0.0)];
    const SAMPLE: &[OpParameter] = &[parameter("ddof", 1.0)];
    match op {
        ReduceOp::Var { ddof: 0 } | ReduceOp::Std { ddof: 0 } => POPULATION,
        ReduceOp::Var { .. } | ReduceOp::Std { .. } => SAMPLE,
        _ => NONE,
    }
}

impl ArrayError {
    #[cold]
    #[track_caller]
    pub(crate) fn parameter(
        op: &'static str,
        known: &'static [OpParameter],
        problem: ParameterProblem,
    ) -> Self {
        Self::new(ArrayErrorKind::Parameter { op, known, problem })
    }
}

/// The values of an operation's parameters in one call.
pub(super) struct Arguments {
    op: &'static str,
    known: &'static [OpParameter],
    set: SmallVec<[Option<Scalar>; 2]>,
}

impl Arguments {
    /// Finds the parameter for each value: in order, and by name.
    #[track_caller]
    pub(super) fn new(
        op: &'static str,
        known: &'static [OpParameter],
        listed: &[Scalar],
        named: &[(Box<str>, Scalar)],
    ) -> Result<Self> {
        if listed.len() > known.len() {
            let given = listed.len();
            let problem = ParameterProblem::TooMany { given };
            return Err(ArrayError::parameter(op, known, problem));
        }
        let mut set: SmallVec<[Option<Scalar>; 2]> = listed.iter().copied().map(Some).collect();
        set.resize(known.len(), None);
        for (name, value) in named {
            let searched = match &*plain(name) {
                "biascorrected" => "ddof".to_owned(),
                name => name.to_owned(),
            };
            let place = (known.iter()).position(|parameter| plain(parameter.name) == searched);
            let Some(place) = place else {
                let name = name.clone();
                let problem = ParameterProblem::Unknown { name };
                return Err(ArrayError::parameter(op, known, problem));
            };
            set[place] = Some(*value);
        }
        Ok(Self { op, known, set })
    }

    /// The first parameter, where the call sets it.
    pub(super) fn first(&self) -> Option<Scalar> {
        self.set.first().copied().flatten()
    }

    /// The value of a parameter by its place in the list.
    #[track_caller]
    pub(super) fn scalar(&self, place: usize) -> Result<Scalar> {
        let OpParameter { name, default } = self.known[place];
        match self.set[place].or(default.map(Scalar::from)) {
            Some(value) => Ok(value),
            None => {
                let problem = ParameterProblem::Missing { name };
                Err(ArrayError::parameter(self.op, self.known, problem))
            }
        }
    }

    #[track_caller]
    pub(super) fn number(&self, place: usize) -> Result<f64> {
        Ok(self.scalar(place)?.as_f64())
    }

    /// The value of a parameter that must be a whole number of a type.
    #[track_caller]
    pub(super) fn whole<T: TryFrom<i64>>(&self, place: usize) -> Result<T> {
        let scalar = self.scalar(place)?;
        let (value, whole) = (scalar.as_f64(), scalar.as_i64());
        match T::try_from(whole) {
            Ok(number) if whole as f64 == value => Ok(number),
            _ => {
                let name = self.known[place].name;
                let problem = ParameterProblem::NotWhole { name, value };
                Err(ArrayError::parameter(self.op, self.known, problem))
            }
        }
    }
}
