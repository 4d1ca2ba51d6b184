//! The two memory orders. Which order an array uses is a property of its strides, see [`crate::Layout`].

use std::fmt;

/// The order in which elements are laid out or enumerated.
///
/// ```
/// use lodestride_shape::Order;
/// assert_eq!(Order::default(), Order::C);
/// assert_eq!(Order::F.to_string(), "F");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row-major: the last axis varies fastest. The default everywhere.
    #[default]
    C,
    /// Column-major (Fortran): the first axis varies fastest.
    F,
}

impl Order {
    /// Gives the other order; a transposed C array is an F array.
    #[must_use]
    pub const fn reversed(self) -> Order {
        match self {
            Order::C => Order::F,
            Order::F => Order::C,
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::C => "C",
            Order::F => "F",
        })
    }
}
