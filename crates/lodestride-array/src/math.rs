//! Functions of every element, one file per family.

mod activation;
mod derivative;
mod exponential;
mod floats;
mod integers;
mod pairs;
mod rounding;
mod scaled;
mod trigonometric;
