//! How many rows a function makes of one: exactly one, at most one, or any number.

use super::WriteRow;

/// What a row-wise function returns: a row, `Option<Row>` (none drops the input row: it is counted as filtered), `Vec<Row>` or
/// `[Row; N]`.
pub trait Emit {
    /// The struct of each row.
    type Row: WriteRow;

    /// Hands each row to `out`, in order, and says how many there were.
    fn emit(self, out: impl FnMut(Self::Row)) -> usize;
}

impl<R: WriteRow> Emit for R {
    type Row = R;

    #[inline(always)]
    fn emit(self, mut out: impl FnMut(R)) -> usize {
        out(self);
        1
    }
}

impl<R: WriteRow> Emit for Option<R> {
    type Row = R;

    #[inline(always)]
    fn emit(self, mut out: impl FnMut(R)) -> usize {
        match self {
            Some(row) => {
                out(row);
                1
            }
            None => 0,
        }
    }
}

impl<R: WriteRow> Emit for Vec<R> {
    type Row = R;

    #[inline]
    fn emit(self, out: impl FnMut(R)) -> usize {
        let rows = self.len();
        self.into_iter().for_each(out);
        rows
    }
}

impl<R: WriteRow, const N: usize> Emit for [R; N] {
    type Row = R;

    #[inline]
    fn emit(self, out: impl FnMut(R)) -> usize {
        self.into_iter().for_each(out);
        N
    }
}
