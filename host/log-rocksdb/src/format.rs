//! The stored format, version 1: keys that sort as streams, partitions and offsets do, and values that end by themselves.
//!
//! Each value begins with its version. Golden vectors hold every encoding: a change is a new version, and the old one is
//! read as long as logs have it.

pub(crate) mod chunk;
pub(crate) mod keys;
pub(crate) mod staged;
pub(crate) mod states;

/// The version of the whole: which families there are and what their keys are.
pub(crate) const FORMAT: u8 = 1;

/// Bytes that are no value: what is wrong with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// The value ends too early.
    #[error("the value ends too early")]
    Short,
    /// The value goes on after its end.
    #[error("the value goes on after its end")]
    Long,
    /// The value's version is not known.
    #[error("a value of version {0}, which is not known")]
    Version(u8),
    /// A field has a value that it cannot have.
    #[error("{0} has a value that it cannot have")]
    Field(&'static str),
}

/// Takes a value apart from its front.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Begins after the version, which has to be the one that is known.
    pub(crate) fn of_version(value: &'a [u8], known: u8) -> Result<Self, FormatError> {
        let mut reader = Self(value);
        match reader.byte()? {
            version if version == known => Ok(reader),
            other => Err(FormatError::Version(other)),
        }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], FormatError> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(FormatError::Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (array, rest) = self.0.split_first_chunk::<N>().ok_or(FormatError::Short)?;
        self.0 = rest;
        Ok(*array)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, FormatError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, FormatError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, FormatError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64, FormatError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A length in 7-bit groups, the lowest first; the top bit says that another follows.
    pub(crate) fn length(&mut self) -> Result<usize, FormatError> {
        let mut length = 0_usize;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            length |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(FormatError::Field("a length"))
    }

    /// What is left.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) const fn finish(&self) -> Result<(), FormatError> {
        if self.0.is_empty() { Ok(()) } else { Err(FormatError::Long) }
    }
}

/// Appends what [`Reader::length`] reads: at most 28 bits.
pub(crate) fn push_length(out: &mut Vec<u8>, mut length: usize) {
    debug_assert!(length < 1 << 28, "lengths are bounded by the largest batch");
    while length > 0x7f {
        out.push(low_bits(length) | 0x80);
        length >>= 7;
    }
    out.push(low_bits(length));
}

fn low_bits(length: usize) -> u8 {
    u8::try_from(length & 0x7f).expect("seven bits fit a byte")
}
