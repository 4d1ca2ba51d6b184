//! What a file says about the array in it, for who does not want the elements yet.

use std::fmt;

use lodestride_array::{DType, Order, Shape};

use crate::source::Elements;

/// Dtype, shape and order of an array in a file, read without its elements; it prints as `f32 [2, 3] C`.
///
/// ```
/// use lodestride_serde::{NdArray, Order, npy};
///
/// # let folder = std::env::temp_dir().join("lodestride-serde-header");
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("a.npy");
/// npy::write(&path, &NdArray::zeros([200, 30])?)?;
/// let header = npy::read_header(&path)?;
/// assert_eq!(header.to_string(), "f32 [200, 30] C");
/// assert_eq!((header.bytes(), header.order()), (24_000, Order::C));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    dtype: DType,
    shape: Shape,
    order: Order,
    lod_level: usize,
}

impl Header {
    pub(crate) fn new(elements: &Elements, lod_level: usize) -> Self {
        Self {
            dtype: elements.dtype,
            shape: elements.layout.shape().clone(),
            order: elements.layout.order().unwrap_or(Order::C),
            lod_level,
        }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of each axis.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The order in which the elements lie in the file, and will lie in memory.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Number of LoD levels; 0 for a plain array.
    pub fn lod_level(&self) -> usize {
        self.lod_level
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Bytes of memory that the elements take.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype.size()
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            Order::C => 'C',
            Order::F => 'F',
        };
        write!(f, "{} {} {order}", self.dtype, self.shape)?;
        if self.lod_level > 0 {
            write!(f, " with {} LoD level(s)", self.lod_level)?;
        }
        Ok(())
    }
}
