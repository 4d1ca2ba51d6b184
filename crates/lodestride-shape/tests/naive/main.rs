//! Everything in this crate against naive models that list elements one by one.

mod extremes;
mod model;
mod views;
mod walks;
