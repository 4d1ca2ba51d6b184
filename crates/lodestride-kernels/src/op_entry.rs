//! What a row of the registry of operations stands for: loops by weight and class, and the type of the result.

/// The loops of an operation type, by its weight and class.
macro_rules! table_entry {
    ($arity:ident $weight:ident Any $O:ty, $d:expr, $l:expr) => {
        crate::table::$arity::$weight::any::<$O>($d, $l)
    };
    (unary $weight:ident AnySign $O:ty, $d:expr, $l:expr) => {
        crate::table_halves::sign::<$O>($d, $l)
            .or_else(|| crate::table::unary::$weight::any::<$O>($d, $l))
    };
    (unary $weight:ident NumberSign $O:ty, $d:expr, $l:expr) => {
        crate::table_halves::sign::<$O>($d, $l)
            .or_else(|| crate::table::unary::$weight::number::<$O>($d, $l))
    };
    ($arity:ident $weight:ident Number $O:ty, $d:expr, $l:expr) => {
        crate::table::$arity::$weight::number::<$O>($d, $l)
    };
    ($arity:ident $weight:ident Float $O:ty, $d:expr, $l:expr) => {
        crate::table::$arity::$weight::float::<$O>($d, $l)
    };
    ($arity:ident $weight:ident Bits $O:ty, $d:expr, $l:expr) => {
        crate::table::$arity::$weight::bits::<$O>($d, $l)
    };
    ($arity:ident $weight:ident Integer $O:ty, $d:expr, $l:expr) => {
        crate::table::$arity::$weight::integer::<$O>($d, $l)
    };
}

/// The loops that halves have of their own for an operation type, by its weight and class.
macro_rules! half_entry {
    ($arity:ident $weight:ident Bits $O:ty, $d:expr, $l:expr) => {
        None
    };
    ($arity:ident $weight:ident Integer $O:ty, $d:expr, $l:expr) => {
        None
    };
    (unary $weight:ident AnySign $O:ty, $d:expr, $l:expr) => {
        None
    };
    (unary $weight:ident NumberSign $O:ty, $d:expr, $l:expr) => {
        None
    };
    ($arity:ident light $class:ident $O:ty, $d:expr, $l:expr) => {
        crate::table_halves::$arity::<$O>($d, $l)
    };
    ($arity:ident signless $class:ident $O:ty, $d:expr, $l:expr) => {
        crate::table_halves::$arity::<$O>($d, $l)
    };
    ($arity:ident $weight:ident $class:ident $O:ty, $d:expr, $l:expr) => {
        None
    };
}

/// The element type an operation on `T` gives.
macro_rules! out_type {
    (Same $T:ty) => {
        $T
    };
    (Truth $T:ty) => {
        Bool
    };
}

pub(crate) use {half_entry, out_type, table_entry};
