//! `LodTensor`: an array whose rows are grouped by a `Lod`. Construction, views of sequences, and elementwise work that
//! keeps the LoD; the sequence ops are in `sequence`, the making from lists in `lists.rs`, the printing in `print.rs`.

use std::fmt;
use std::ops::Range;

use lodestride_array::{ArrayError, DType, NdArray, Shape};

use crate::error::{Result, SequenceArgument};
use crate::lengths::Lengths;
use crate::lod::{IntoLod, Lod};
use crate::restructure::{Selection, check_range};
use crate::rows;

/// A batch of nested variable-length sequences: an array of rows and the [`Lod`] that groups them.
///
/// Axis 0 of the data counts rows; a row may have any shape. The LoD is part of the value: an op returns a
/// `LodTensor` whose LoD is right for it, or a plain array, never a stale LoD. With a LoD of no levels a `LodTensor`
/// is a plain array in a ragged program.
///
/// Cloning aliases, as for [`NdArray`]: both handles see the same elements.
///
/// ```
/// use lodestride_lod::{LodTensor, NdArray, lengths};
///
/// let x = LodTensor::new(NdArray::from([[1.1f32], [2.2], [3.3], [4.4]]), lengths![[1, 3]])?;
/// assert_eq!(x.lod_level(), 1);
/// assert_eq!(x.sequence(0, 1)?.data().to_vec::<f32>()?, [2.2, 3.3, 4.4]);
/// assert_eq!(x.to_string(), "\
/// 2 * var * f32[1]
/// ├─ 0: [1.1]
/// └─ 1: [2.2] [3.3] [4.4]");
/// # Ok::<(), lodestride_lod::LodError>(())
/// ```
#[derive(Clone)]
#[doc(alias = "LoDTensor")]
pub struct LodTensor {
    data: NdArray,
    /// Fits the rows of `data`; `data` cannot change its shape, so it always will.
    lod: Lod,
}

impl LodTensor {
    /// Joins an array and a LoD, given as a [`Lod`], as [`Lengths`] or as [`Offsets`](crate::Offsets).
    ///
    /// # Errors
    /// Those of [`Lod::from_lengths`] or [`Lod::from_offsets`]; [`RowTotal`](crate::LodErrorKind::RowTotal) when the last
    /// level does not add up to the rows of the data, [`Rank`](crate::LodErrorKind::Rank) for levels over a scalar.
    #[track_caller]
    #[doc(alias = "create_lod_tensor")]
    pub fn new(data: NdArray, lod: impl IntoLod) -> Result<LodTensor> {
        let lod = lod.into_lod()?;
        if !lod.is_none() {
            rows::check_rank("LodTensor::new", SequenceArgument::X, &data, 1)?;
            lod.check_rows(data.shape()[0])?;
        }
        Ok(LodTensor { data, lod })
    }

    /// An array and a LoD that fits it by construction.
    pub(crate) fn proven(data: NdArray, lod: Lod) -> LodTensor {
        debug_assert!(lod.is_none() || lod.rows() == Some(data.shape()[0]));
        LodTensor { data, lod }
    }

    /// The rows.
    pub fn data(&self) -> &NdArray {
        &self.data
    }

    /// How the rows group.
    pub fn lod(&self) -> &Lod {
        &self.lod
    }

    /// Takes array and LoD apart.
    pub fn into_parts(self) -> (NdArray, Lod) {
        (self.data, self.lod)
    }

    /// The rows as a plain array; the LoD is given up.
    pub fn into_data(self) -> NdArray {
        self.data
    }

    /// The rows as a plain array that shares memory with this tensor.
    pub fn drop_lod(&self) -> NdArray {
        self.data.clone()
    }

    /// The same rows grouped by another LoD; shares memory with this tensor.
    ///
    /// # Errors
    /// As [`new`](LodTensor::new).
    ///
    /// ```
    /// use lodestride_lod::{LodTensor, NdArray, lengths, offsets};
    ///
    /// let x = LodTensor::new(NdArray::arange(0, 6, 1)?, lengths![[2, 3, 1]])?;
    /// assert_eq!(x.with_lod(offsets![[0, 4, 6]])?.recursive_sequence_lengths(), lengths![[4, 2]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    #[doc(alias = "lod_reset")]
    #[doc(alias = "set_lod")]
    pub fn with_lod(&self, lod: impl IntoLod) -> Result<LodTensor> {
        LodTensor::new(self.data.clone(), lod)
    }

    /// Number of levels.
    pub fn lod_level(&self) -> usize {
        self.lod.depth()
    }

    /// The LoD in length form.
    pub fn recursive_sequence_lengths(&self) -> Lengths {
        self.lod.lengths()
    }

    /// Number of rows; 1 for a scalar.
    pub fn rows(&self) -> usize {
        self.data.shape().first().copied().unwrap_or(1)
    }

    /// Shape of one row.
    pub fn row_shape(&self) -> &[usize] {
        self.data.shape().get(1..).unwrap_or_default()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// Shape of the data, rows first.
    pub fn shape(&self) -> &Shape {
        self.data.shape()
    }

    /// Sequence `index` of a level, without copying: its rows, grouped by the levels below.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange), [`SequenceOutOfRange`](crate::LodErrorKind::SequenceOutOfRange).
    #[track_caller]
    pub fn sequence(&self, level: isize, index: usize) -> Result<LodTensor> {
        let (lod, rows) = self.lod.sequence(level, index)?;
        Ok(LodTensor::proven(self.row_view(rows)?, lod))
    }

    /// All sequences of a level in order, each as [`sequence`](LodTensor::sequence) gives it.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn sequences(&self, level: isize) -> Result<Vec<LodTensor>> {
        let level = self.lod.resolve_level(level)?;
        let mut sequences = Vec::with_capacity(self.lod.levels()[level].count());
        for index in 0..self.lod.levels()[level].count() {
            let (lod, rows) = self.lod.inside(level, index);
            sequences.push(LodTensor::proven(self.row_view(rows)?, lod));
        }
        Ok(sequences)
    }

    /// The rows of each sequence of a level as arrays that share memory with this tensor.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange).
    #[track_caller]
    pub fn to_arrays(&self, level: isize) -> Result<Vec<NdArray>> {
        Ok(self
            .sequences(level)?
            .into_iter()
            .map(LodTensor::into_data)
            .collect())
    }

    /// The sequences `range` of a level as a batch of their own, without copying data or offsets; levels above are
    /// left out.
    ///
    /// # Errors
    /// [`LevelOutOfRange`](crate::LodErrorKind::LevelOutOfRange), [`RangeOutOfRange`](crate::LodErrorKind::RangeOutOfRange).
    #[track_caller]
    pub fn slice(&self, level: isize, range: Range<usize>) -> Result<LodTensor> {
        let (lod, rows) = self.lod.slice(level, range)?;
        Ok(LodTensor::proven(self.row_view(rows)?, lod))
    }

    /// The rows `range`, without copying data, with all levels kept as [`Lod::slice_rows`] says.
    ///
    /// # Errors
    /// [`RangeOutOfRange`](crate::LodErrorKind::RangeOutOfRange).
    #[track_caller]
    pub fn slice_rows(&self, range: Range<usize>) -> Result<LodTensor> {
        rows::check_rank("slice_rows", SequenceArgument::X, &self.data, 1)?;
        check_range("slice_rows", &range, self.rows())?;
        let lod = if self.lod.is_none() {
            Lod::none()
        } else {
            self.lod.slice_rows(range.clone())?
        };
        Ok(LodTensor::proven(self.row_view(range)?, lod))
    }

    /// The batch cut into `parts` batches of whole outermost sequences, as even as possible, the larger ones first;
    /// nothing is copied. There are fewer when there are fewer sequences.
    ///
    /// # Errors
    /// [`NoLod`](crate::LodErrorKind::NoLod) without levels.
    #[track_caller]
    #[doc(alias = "SplitLoDTensor")]
    pub fn split(&self, parts: usize) -> Result<Vec<LodTensor>> {
        rows::check_lod("split", SequenceArgument::X, self)?;
        let count = self.lod.sequences(0)?;
        let parts = parts.clamp(1, count.max(1));
        let (size, larger) = (count / parts, count % parts);
        let mut batches = Vec::with_capacity(parts);
        let mut start = 0;
        for part in 0..parts {
            let end = start + size + usize::from(part < larger);
            batches.push(self.slice(0, start..end)?);
            start = end;
        }
        Ok(batches)
    }

    /// The batches one after the other: rows and sequences of every level are appended. No batch at all is refused.
    ///
    /// # Errors
    /// [`DepthMismatch`](crate::LodErrorKind::DepthMismatch), and the errors of [`NdArray::concat`].
    #[track_caller]
    #[doc(alias = "MergeLoDTensor")]
    pub fn concat(batches: &[&LodTensor]) -> Result<LodTensor> {
        let lods: Vec<&Lod> = batches.iter().map(|batch| &batch.lod).collect();
        let data: Vec<&NdArray> = batches.iter().map(|batch| &batch.data).collect();
        Ok(LodTensor::proven(
            NdArray::concat(&data, 0)?,
            Lod::concat(&lods)?,
        ))
    }

    /// The sequences of a level named by `indices`, copied in that order; levels above are left out.
    ///
    /// # Errors
    /// As [`Lod::take`].
    #[track_caller]
    pub fn take(&self, level: isize, indices: &[usize]) -> Result<LodTensor> {
        self.select(self.lod.take(level, indices)?)
    }

    /// The sequences of a level whose flag is set, copied; levels above are left out.
    ///
    /// # Errors
    /// As [`Lod::filter`].
    #[track_caller]
    pub fn filter(&self, level: isize, keep: &[bool]) -> Result<LodTensor> {
        self.select(self.lod.filter(level, keep)?)
    }

    /// The sequences of a level in another order, copied; levels above are left out.
    ///
    /// # Errors
    /// As [`Lod::permute`].
    #[track_caller]
    #[doc(alias = "reorder_lod_tensor_by_rank")]
    pub fn permute(&self, level: isize, order: &[usize]) -> Result<LodTensor> {
        self.select(self.lod.permute(level, order)?)
    }

    /// Copies the rows a plan names.
    #[track_caller]
    pub(crate) fn select(&self, selection: Selection) -> Result<LodTensor> {
        let data = rows::gather(&self.data, &selection.rows)?;
        Ok(LodTensor::proven(data, selection.lod))
    }

    /// Applies an array function to the rows and keeps the LoD.
    ///
    /// # Errors
    /// The function's own, and [`RowTotal`](crate::LodErrorKind::RowTotal) when it changes the number of rows.
    ///
    /// ```
    /// use lodestride_lod::{LodTensor, NdArray, lengths};
    ///
    /// let x = LodTensor::new(NdArray::from([1.0f32, -2.0, 3.0]), lengths![[1, 2]])?;
    /// let y = x.map(|rows| rows.abs())?;
    /// assert_eq!(y.recursive_sequence_lengths(), lengths![[1, 2]]);
    /// # Ok::<(), lodestride_lod::LodError>(())
    /// ```
    #[track_caller]
    pub fn map(
        &self,
        f: impl FnOnce(&NdArray) -> std::result::Result<NdArray, ArrayError>,
    ) -> Result<LodTensor> {
        let data = f(&self.data)?;
        LodTensor::new(data, self.lod.clone())
    }

    /// Applies an array function of two arguments to the rows of two batches grouped alike, and keeps the LoD.
    ///
    /// # Errors
    /// [`DepthMismatch`](crate::LodErrorKind::DepthMismatch) or [`LodMismatch`](crate::LodErrorKind::LodMismatch) when the batches
    /// are not grouped alike, the function's own errors, and [`RowTotal`](crate::LodErrorKind::RowTotal) when it changes the
    /// number of rows.
    #[track_caller]
    pub fn zip_map(
        &self,
        other: &LodTensor,
        f: impl FnOnce(&NdArray, &NdArray) -> std::result::Result<NdArray, ArrayError>,
    ) -> Result<LodTensor> {
        self.lod
            .check_equal(&other.lod, "zip_map", SequenceArgument::Y)?;
        let data = f(&self.data, &other.data)?;
        LodTensor::new(data, self.lod.clone())
    }

    #[track_caller]
    fn row_view(&self, rows: Range<usize>) -> Result<NdArray> {
        rows::view(&self.data, rows)
    }
}

impl AsRef<Lod> for LodTensor {
    fn as_ref(&self) -> &Lod {
        &self.lod
    }
}

impl AsRef<Lod> for Lod {
    fn as_ref(&self) -> &Lod {
        self
    }
}

impl From<NdArray> for LodTensor {
    /// A tensor without levels.
    fn from(data: NdArray) -> LodTensor {
        LodTensor::proven(data, Lod::none())
    }
}

impl From<&NdArray> for LodTensor {
    /// A tensor without levels that shares the array's memory.
    fn from(data: &NdArray) -> LodTensor {
        LodTensor::from(data.clone())
    }
}

impl fmt::Debug for LodTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LodTensor")
            .field("lod", &self.lod)
            .field("data", &self.data)
            .finish()
    }
}
