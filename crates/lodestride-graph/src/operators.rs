//! `+ - * / %` and unary minus on variables, with literals on either side.
//! Operators panic with the text the methods return as an error, at the caller's line.

use crate::variable::Variable;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

macro_rules! binary_operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<R: Into<Variable>> $trait<R> for &Variable {
            type Output = Variable;

            /// # Panics
            /// With the text of the method's error when the types do not fit.
            #[track_caller]
            fn $method(self, right: R) -> Variable {
                match Variable::$method(self, right) {
                    Ok(variable) => variable,
                    Err(error) => panic!("{error}"),
                }
            }
        }

        impl<R: Into<Variable>> $trait<R> for Variable {
            type Output = Variable;

            /// # Panics
            /// With the text of the method's error when the types do not fit.
            #[track_caller]
            fn $method(self, right: R) -> Variable {
                $trait::$method(&self, right)
            }
        }

        literal_left! { $trait $method: i64 f64 }
    )*};
}

/// One type per kind, so that `(1.0 + &x).exp()` needs no annotation.
macro_rules! literal_left {
    ($trait:ident $method:ident: $($host:ty)*) => {$(
        impl $trait<&Variable> for $host {
            type Output = Variable;

            #[track_caller]
            fn $method(self, right: &Variable) -> Variable {
                $trait::$method(&Variable::from(self), right)
            }
        }

        impl $trait<Variable> for $host {
            type Output = Variable;

            #[track_caller]
            fn $method(self, right: Variable) -> Variable {
                $trait::$method(&Variable::from(self), right)
            }
        }
    )*};
}

binary_operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
    Rem rem;
}

impl Neg for &Variable {
    type Output = Variable;

    /// # Panics
    /// With the text of the method's error for bool variables.
    #[track_caller]
    fn neg(self) -> Variable {
        match Variable::neg(self) {
            Ok(variable) => variable,
            Err(error) => panic!("{error}"),
        }
    }
}

impl Neg for Variable {
    type Output = Variable;

    #[track_caller]
    fn neg(self) -> Variable {
        -&self
    }
}
