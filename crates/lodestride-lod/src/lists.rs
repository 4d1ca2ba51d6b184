//! LoD tensors out of nested lists and of arrays, and back. The type of a list says what is ragged: a `Vec` or slice may
//! have any length, an array `[T; N]` of numbers is a fixed axis of the row.

use lodestride_array::{HostType, NdArray, bf16, f16};

use crate::error::Result;
use crate::lengths::Lengths;
use crate::lod::Lod;
use crate::rows;
use crate::tensor::LodTensor;

/// A nested list of numbers whose outer layers vary in length.
///
/// `Vec<Vec<f32>>` is one level over scalar rows, `Vec<Vec<[f32; 2]>>` one level over rows of two numbers,
/// `Vec<Vec<Vec<i64>>>` two levels.
pub trait RaggedList {
    /// The type of a number.
    type Number: HostType;
    /// Number of layers of varying length.
    const LAYERS: usize;

    /// Appends the fixed axes inside one item of the innermost layer.
    fn row_shape(shape: &mut Vec<usize>);

    /// Appends the numbers, and the length of every list of layer `layer` and below to `lengths[layer..]`.
    fn flatten(&self, layer: usize, lengths: &mut [Vec<usize>], numbers: &mut Vec<Self::Number>);
}

/// Plain numbers are the leaves.
macro_rules! leaves {
    ($($number:ty),*) => {$(
        impl RaggedList for $number {
            type Number = $number;
            const LAYERS: usize = 0;

            fn row_shape(_: &mut Vec<usize>) {}

            fn flatten(&self, _: usize, _: &mut [Vec<usize>], numbers: &mut Vec<$number>) {
                numbers.push(*self);
            }
        }
    )*};
}

leaves!(
    bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64
);

impl<T: RaggedList> RaggedList for [T] {
    type Number = T::Number;
    const LAYERS: usize = T::LAYERS + 1;

    fn row_shape(shape: &mut Vec<usize>) {
        T::row_shape(shape);
    }

    fn flatten(&self, layer: usize, lengths: &mut [Vec<usize>], numbers: &mut Vec<T::Number>) {
        lengths[layer].push(self.len());
        for item in self {
            item.flatten(layer + 1, lengths, numbers);
        }
    }
}

impl<T: RaggedList> RaggedList for Vec<T> {
    type Number = T::Number;
    const LAYERS: usize = <[T]>::LAYERS;

    fn row_shape(shape: &mut Vec<usize>) {
        T::row_shape(shape);
    }

    fn flatten(&self, layer: usize, lengths: &mut [Vec<usize>], numbers: &mut Vec<T::Number>) {
        self.as_slice().flatten(layer, lengths, numbers);
    }
}

impl<T: RaggedList, const N: usize> RaggedList for [T; N] {
    type Number = T::Number;
    /// An array of lists is one more list; an array of numbers is a part of the row.
    const LAYERS: usize = if T::LAYERS == 0 { 0 } else { T::LAYERS + 1 };

    fn row_shape(shape: &mut Vec<usize>) {
        if T::LAYERS == 0 {
            shape.push(N);
        }
        T::row_shape(shape);
    }

    fn flatten(&self, layer: usize, lengths: &mut [Vec<usize>], numbers: &mut Vec<T::Number>) {
        if T::LAYERS > 0 {
            return self.as_slice().flatten(layer, lengths, numbers);
        }
        for item in self {
            item.flatten(layer, lengths, numbers);
        }
    }
}

impl<T: RaggedList + ?Sized> RaggedList for &T {
    type Number = T::Number;
    const LAYERS: usize = T::LAYERS;

    fn row_shape(shape: &mut Vec<usize>) {
        T::row_shape(shape);
    }

    fn flatten(&self, layer: usize, lengths: &mut [Vec<usize>], numbers: &mut Vec<T::Number>) {
        (**self).flatten(layer, lengths, numbers);
    }
}

impl LodTensor {
    /// A LoD tensor from nested lists; the nesting of the type gives the levels and the shape of a row (see
    /// [`RaggedList`]).
    ///
    /// # Errors
    /// Those of [`NdArray::from_vec`].
    ///
    /// ```
    /// use lodestride_lod::{LodTensor, lengths};
    ///
    /// let words = LodTensor::from_lists(&[vec![7i64, 8, 9], vec![], vec![5]])?;
    /// assert_eq!((words.recursive_sequence_lengths(), words.shape().to_vec()), (lengths![[3, 0, 1]], vec![4]));
    /// let texts = LodTensor::from_lists(&[vec![vec![[0.5f32, 1.5]], vec![]], vec![]])?;
    /// assert_eq!((texts.recursive_sequence_lengths(), texts.shape().to_vec()), (lengths![[2, 0], [1, 0]], vec![1, 2]));
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn from_lists<L: RaggedList + ?Sized>(lists: &L) -> Result<LodTensor> {
        const {
            assert!(
                L::LAYERS > 0,
                "a list of fixed shape has no sequences; use NdArray::from"
            )
        };
        // The first layer is the batch itself and the last one holds rows: between them lie the levels.
        let mut lengths = vec![Vec::new(); L::LAYERS];
        let mut numbers = Vec::new();
        lists.flatten(0, &mut lengths, &mut numbers);
        let mut shape = vec![lengths[L::LAYERS - 1].iter().sum()];
        L::row_shape(&mut shape);
        let lod = Lod::from_lengths(lengths.into_iter().skip(1).collect::<Lengths>())?;
        Ok(LodTensor::proven(NdArray::from_vec(numbers, shape)?, lod))
    }

    /// One more level: a batch whose sequences are these tensors, which must have the same depth. The data is copied
    /// together. An empty list is refused, because it does not say what a row is.
    ///
    /// # Errors
    /// [`DepthMismatch`](crate::LodErrorKind::DepthMismatch), and those of [`NdArray::concat`].
    ///
    /// ```
    /// use lodestride_lod::{LodTensor, NdArray, lengths};
    ///
    /// let (a, b) = (NdArray::from([[1i64], [2]]), NdArray::from([[3i64]]));
    /// let batch = LodTensor::from_sequences(&[&a.into(), &b.into()])?;
    /// assert_eq!(batch.recursive_sequence_lengths(), lengths![[2, 1]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn from_sequences(sequences: &[&LodTensor]) -> Result<LodTensor> {
        let (data, lod) = LodTensor::concat(sequences)?.into_parts();
        let lengths = sequences.iter().map(|s| {
            if s.lod_level() == 0 {
                s.rows()
            } else {
                s.lod().levels()[0].count()
            }
        });
        let lengths: Vec<usize> = lengths.collect();
        Ok(LodTensor::proven(data, lod.group(&lengths)?))
    }

    /// The numbers of each sequence of a level, each in C order.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange), and those of [`NdArray::to_vec`].
    ///
    /// ```
    /// use lodestride_lod::LodTensor;
    ///
    /// let words = LodTensor::from_lists(&[vec![7i64, 8, 9], vec![], vec![5]])?;
    /// assert_eq!(words.to_lists::<i64>(-1)?, [vec![7, 8, 9], vec![], vec![5]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn to_lists<T: HostType>(&self, level: isize) -> Result<Vec<Vec<T>>> {
        let borders = self.lod().rows_of(level)?;
        let (numbers, width) = (self.data().to_vec::<T>()?, rows::row_width(self.data()));
        let lists = borders.windows(2);
        Ok(lists
            .map(|pair| numbers[pair[0] * width..pair[1] * width].to_vec())
            .collect())
    }
}
