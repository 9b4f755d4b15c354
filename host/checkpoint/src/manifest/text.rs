//! Bytes and checksums as hex text in JSON.

/// Bytes.
pub(super) mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::manifest) fn serialize<S: Serializer>(bytes: &[u8], out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::to_hex(bytes))
    }

    pub(in crate::manifest) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        super::from_hex(&text).ok_or_else(|| D::Error::custom("bytes are not hex"))
    }
}

/// Bytes, or null.
pub(super) mod hex_or_none {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::manifest) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, out: S) -> Result<S::Ok, S::Error> {
        bytes.as_deref().map(super::to_hex).serialize(out)
    }

    pub(in crate::manifest) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| super::from_hex(&text).ok_or_else(|| D::Error::custom("bytes are not hex"))).transpose()
    }
}

/// A checksum: 32 digits.
pub(super) mod checksum {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::manifest) fn serialize<S: Serializer>(checksum: &u128, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format!("{checksum:032x}"))
    }

    pub(in crate::manifest) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = super::from_hex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u128::from_be_bytes).ok_or_else(|| D::Error::custom("a checksum is not 32 hex digits"))
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Small letters only: one text for each bytes.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}
