//! Functions of every element, one file per family.

mod activation;
mod exponential;
mod pairs;
mod rounding;
mod trigonometric;
