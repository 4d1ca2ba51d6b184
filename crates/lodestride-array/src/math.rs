//! Functions of every element, one file per family.

mod activation;
mod derivative;
mod exponential;
mod floats;
mod integers;
mod magnitude;
mod pairs;
mod parametric;
mod rounding;
mod scaled;
mod trigonometric;
