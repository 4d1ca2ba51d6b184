//! What a variable may hold: dtype, dimensions (known, unknown or named) and, for ragged batches, the LoD depth.
//! The check of a run-time value against a type lives in `function`.

use crate::error::GraphErrorKind;
use lodestride_array::{DType, NdArray};
use lodestride_lod::Lod;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// One length of a tensor type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// Exactly this length; `Known(1)` is what Theano calls broadcastable.
    Known(usize),
    /// Any length; checked when the function is called.
    Unknown,
    /// Any length, but the same wherever this name stands in one function.
    Symbol(Arc<str>),
}

impl Dim {
    /// A named length: every dimension of that name must agree within one call.
    pub fn symbol(name: &str) -> Self {
        Self::Symbol(name.into())
    }

    /// The length when it is known while building.
    pub fn known(&self) -> Option<usize> {
        match self {
            Self::Known(n) => Some(*n),
            Self::Unknown | Self::Symbol(_) => None,
        }
    }

    /// Whether the two lengths are certainly equal.
    pub fn surely_equals(&self, other: &Self) -> bool {
        self == other && *self != Self::Unknown
    }

    /// Whether a value of `other` always fits here.
    pub fn is_super(&self, other: &Self) -> bool {
        *self == Self::Unknown || self == other
    }

    /// The most specific length that covers both, for values that may come from either.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if self == other {
            self.clone()
        } else {
            Self::Unknown
        }
    }

    /// The length both must have, or `None` when they cannot agree.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => (a == b).then(|| self.clone()),
            (Self::Known(_), _) | (Self::Symbol(_), Self::Unknown) => Some(self.clone()),
            (_, other) => Some(other.clone()),
        }
    }

    /// The length of an elementwise result, or `None` when the two cannot broadcast.
    pub fn broadcast(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Known(1), d) | (d, Self::Known(1)) => Some(d.clone()),
            (Self::Known(a), Self::Known(b)) => (a == b).then(|| self.clone()),
            // A known length above one wins: the other side is that length or 1, or the call fails.
            (Self::Known(_), _) => Some(self.clone()),
            (_, Self::Known(_)) => Some(other.clone()),
            (a, b) if a.surely_equals(b) => Some(a.clone()),
            _ => Some(Self::Unknown),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Unknown => f.write_str("?"),
            Self::Symbol(name) => f.write_str(name),
        }
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Self {
        Self::Known(n)
    }
}

impl From<Option<usize>> for Dim {
    fn from(n: Option<usize>) -> Self {
        n.map_or(Self::Unknown, Self::Known)
    }
}

/// `true` = broadcastable, that is of length exactly 1; `false` = any length.
impl From<bool> for Dim {
    fn from(broadcastable: bool) -> Self {
        if broadcastable {
            Self::Known(1)
        } else {
            Self::Unknown
        }
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::symbol(name)
    }
}

/// The lengths of a tensor type, outermost first.
pub type Dims = SmallVec<[Dim; 4]>;

fn write_dims(f: &mut fmt::Formatter<'_>, dims: &[Dim]) -> fmt::Result {
    f.write_str("(")?;
    for (i, dim) in dims.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{dim}")?;
    }
    f.write_str(if dims.len() == 1 { ",)" } else { ")" })
}

/// Dense tensors of one dtype and one pattern of lengths.
///
/// ```
/// use lodestride_graph::{DType, TensorType};
/// let float64_matrix = TensorType::new(DType::F64, [false, false]);
/// assert_eq!(float64_matrix.broadcastable(), [false, false]);
/// assert_eq!(float64_matrix.to_string(), "dmatrix");
/// let irow = TensorType::new(DType::I32, [true, false]);
/// assert_eq!(irow.to_string(), "irow");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    dtype: DType,
    /// Shared: types are copied with every node, and seldom changed.
    dims: Arc<[Dim]>,
}

impl TensorType {
    /// A tensor type from its dtype and one entry per axis: a length, `None`, a name, or Theano's broadcastable flag.
    pub fn new<D: Into<Dim>>(dtype: DType, dims: impl IntoIterator<Item = D>) -> Self {
        Self {
            dtype,
            dims: dims.into_iter().map(Into::into).collect(),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The lengths, outermost first.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Theano's pattern: `true` where the length is exactly 1.
    pub fn broadcastable(&self) -> Vec<bool> {
        self.dims.iter().map(|d| *d == Dim::Known(1)).collect()
    }

    /// Theano's name for the type (`dmatrix`, `lscalar`, `irow`), if it has one.
    pub fn alias(&self) -> Option<String> {
        let prefix = match self.dtype {
            DType::I8 => 'b',
            DType::I16 => 'w',
            DType::I32 => 'i',
            DType::I64 => 'l',
            DType::F32 => 'f',
            DType::F64 => 'd',
            _ => return None,
        };
        let pattern = match &*self.dims {
            [] => "scalar",
            [Dim::Unknown] => "vector",
            [Dim::Unknown, Dim::Unknown] => "matrix",
            [Dim::Known(1), Dim::Unknown] => "row",
            [Dim::Unknown, Dim::Known(1)] => "col",
            [Dim::Unknown, Dim::Unknown, Dim::Unknown] => "tensor3",
            [Dim::Unknown, Dim::Unknown, Dim::Unknown, Dim::Unknown] => "tensor4",
            _ => return None,
        };
        Some(format!("{prefix}{pattern}"))
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(alias) = self.alias() {
            return f.write_str(&alias);
        }
        write!(f, "TensorType({}, ", self.dtype)?;
        write_dims(f, &self.dims)?;
        f.write_str(")")
    }
}

/// Ragged batches: rows of one shape, grouped by `lod_level` levels of sequences.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LodType {
    dtype: DType,
    /// Always one entry more than the row shape: the row count comes first and is unknown while building.
    dims: Arc<[Dim]>,
    lod_level: usize,
}

impl LodType {
    /// A LoD type from dtype, the shape of one row, and the number of levels.
    pub fn new<D: Into<Dim>>(
        dtype: DType,
        row_shape: impl IntoIterator<Item = D>,
        lod_level: usize,
    ) -> Self {
        let dims = std::iter::once(Dim::Unknown)
            .chain(row_shape.into_iter().map(Into::into))
            .collect();
        Self {
            dtype,
            dims,
            lod_level,
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The lengths of one row.
    pub fn row_shape(&self) -> &[Dim] {
        &self.dims[1..]
    }

    /// How many levels of sequences there are; at least 1 in a useful type.
    pub fn lod_level(&self) -> usize {
        self.lod_level
    }
}

impl fmt::Display for LodType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LodType({}, ", self.dtype)?;
        write_dims(f, &self.dims)?;
        write!(f, ", lod_level={})", self.lod_level)
    }
}

/// The type of a variable: a dense tensor or a ragged batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A dense tensor.
    Tensor(TensorType),
    /// A ragged batch.
    Lod(LodType),
}

impl Type {
    /// The type of a value with every length known (the row count of ragged batches excepted).
    pub(crate) fn of(array: &NdArray, lod: Option<&Lod>) -> Self {
        match lod {
            None => Self::tensor(array.dtype(), array.shape().iter().copied()),
            Some(lod) => {
                let row = array.shape().iter().skip(1).copied();
                LodType::new(array.dtype(), row, lod.depth()).into()
            }
        }
    }

    /// A dense type from its parts.
    pub fn tensor<D: Into<Dim>>(dtype: DType, dims: impl IntoIterator<Item = D>) -> Self {
        Self::Tensor(TensorType::new(dtype, dims))
    }

    /// A LoD type from its parts; `dims` includes the row axis, whose entry is ignored.
    pub(crate) fn lod_from_dims(dtype: DType, dims: &[Dim], lod_level: usize) -> Self {
        Self::Lod(LodType::new(dtype, dims.iter().skip(1).cloned(), lod_level))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Tensor(t) => t.dtype,
            Self::Lod(t) => t.dtype,
        }
    }

    /// The lengths, the row axis of a LoD type included.
    pub fn dims(&self) -> &[Dim] {
        match self {
            Self::Tensor(t) => &t.dims,
            Self::Lod(t) => &t.dims,
        }
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The number of LoD levels; 0 for dense tensors.
    pub fn lod_level(&self) -> usize {
        match self {
            Self::Tensor(_) => 0,
            Self::Lod(t) => t.lod_level,
        }
    }

    /// Whether this is a ragged batch.
    pub fn is_lod(&self) -> bool {
        matches!(self, Self::Lod(_))
    }

    /// Theano's pattern: `true` where the length is exactly 1.
    pub fn broadcastable(&self) -> Vec<bool> {
        self.dims().iter().map(|d| *d == Dim::Known(1)).collect()
    }

    /// The lengths when all of them are known while building.
    pub fn static_shape(&self) -> Option<Vec<usize>> {
        self.dims().iter().map(Dim::known).collect()
    }

    /// The same type with another dtype.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        let mut copy = self.clone();
        match &mut copy {
            Self::Tensor(t) => t.dtype = dtype,
            Self::Lod(t) => t.dtype = dtype,
        }
        copy
    }

    /// The same dtype and LoD depth with other lengths; a LoD type keeps its unknown row count.
    #[must_use]
    pub fn with_dims(&self, dims: impl IntoIterator<Item = Dim>) -> Self {
        let dims: Arc<[Dim]> = dims.into_iter().collect();
        match self {
            Self::Tensor(t) => Self::Tensor(TensorType {
                dtype: t.dtype,
                dims,
            }),
            Self::Lod(t) => Self::lod_from_dims(t.dtype, &dims, t.lod_level),
        }
    }

    /// Whether every value of `other` is a value of this type.
    pub fn is_super(&self, other: &Self) -> bool {
        self.dtype() == other.dtype()
            && self.lod_level() == other.lod_level()
            && self.rank() == other.rank()
            && self
                .dims()
                .iter()
                .zip(other.dims())
                .all(|(a, b)| a.is_super(b))
    }

    /// Whether some value could have both types; used where a run-time check follows.
    pub fn is_compatible(&self, other: &Self) -> bool {
        self.dtype() == other.dtype()
            && self.lod_level() == other.lod_level()
            && self.rank() == other.rank()
            && self
                .dims()
                .iter()
                .zip(other.dims())
                .all(|(a, b)| a.meet(b).is_some())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tensor(t) => t.fmt(f),
            Self::Lod(t) => t.fmt(f),
        }
    }
}

impl From<TensorType> for Type {
    fn from(t: TensorType) -> Self {
        Self::Tensor(t)
    }
}

impl From<&TensorType> for Type {
    fn from(t: &TensorType) -> Self {
        Self::Tensor(t.clone())
    }
}

impl From<LodType> for Type {
    fn from(t: LodType) -> Self {
        Self::Lod(t)
    }
}

impl From<&Type> for Type {
    fn from(t: &Type) -> Self {
        t.clone()
    }
}

/// The lengths of an elementwise result over `types`, aligned on the right.
///
/// # Errors
/// `Broadcast` with all operand types when two known lengths differ and neither is 1.
pub(crate) fn broadcast_dims(types: &[&Type]) -> Result<Dims, GraphErrorKind> {
    let rank = types.iter().map(|t| t.rank()).max().unwrap_or(0);
    let mut dims: Dims = SmallVec::from_elem(Dim::Known(1), rank);
    for ty in types {
        let shift = rank - ty.rank();
        for (axis, dim) in ty.dims().iter().enumerate() {
            let slot = &mut dims[shift + axis];
            *slot = slot
                .broadcast(dim)
                .ok_or_else(|| GraphErrorKind::Broadcast {
                    types: types.iter().map(|t| (*t).clone()).collect(),
                    axis: shift + axis,
                })?;
        }
    }
    Ok(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_theanos() {
        let cases: [(Type, &str); 7] = [
            (Type::tensor(DType::F64, [false, false]), "dmatrix"),
            (Type::tensor(DType::I64, [] as [Dim; 0]), "lscalar"),
            (Type::tensor(DType::I32, [true, false]), "irow"),
            (Type::tensor(DType::F32, [false, true]), "fcol"),
            (Type::tensor(DType::F32, [3usize]), "TensorType(f32, (3,))"),
            (Type::tensor(DType::Bool, ["n"]), "TensorType(bool, (n,))"),
            (
                LodType::new(DType::F32, [12usize], 2).into(),
                "LodType(f32, (?, 12), lod_level=2)",
            ),
        ];
        for (ty, text) in cases {
            assert_eq!(ty.to_string(), text);
        }
    }

    #[test]
    fn broadcasting_lengths() {
        use Dim::{Known, Unknown};
        let n = Dim::symbol("n");
        let m = Dim::symbol("m");
        let cases = [
            (Known(3), Known(1), Some(Known(3))),
            (Known(3), Known(4), None),
            (Known(3), Unknown, Some(Known(3))),
            (Unknown, Unknown, Some(Unknown)),
            (n.clone(), n.clone(), Some(n.clone())),
            (n.clone(), m, Some(Unknown)),
            (Known(1), n.clone(), Some(n)),
        ];
        for (a, b, want) in cases {
            assert_eq!(a.broadcast(&b), want, "{a} with {b}");
            assert_eq!(b.broadcast(&a), want, "{b} with {a}");
        }
    }

    #[test]
    fn super_types() {
        let any = Type::tensor(DType::F64, [None]);
        let three = Type::tensor(DType::F64, [3usize]);
        assert!(any.is_super(&three) && !three.is_super(&any) && three.is_compatible(&any));
        assert!(!any.is_super(&three.with_dtype(DType::F32)));
    }
}
