//! The envelope around a statement: DSSE (Dead Simple Signing Envelope, v1), as JSON.
//!
//! What is signed is the pre-authentication encoding of payload type and payload, so that bytes signed as one thing cannot be
//! shown as another. Invariant: `parse` accepts one spelling of an envelope's content; it reads nothing of the payload.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::json::{self, Object};
use crate::key::{SIGNATURE_BYTES, SecretKey};
use crate::refusal::{Refusal, quoted};
use crate::rule::Rule;
use crate::statement::Statement;

/// The one type of payload.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// The most bytes of an envelope.
pub const MAX_ENVELOPE_BYTES: usize = 64 << 10;
/// The most signatures: an owner, and successors while keys are exchanged. It bounds the work that a stranger can ask for.
pub(crate) const MAX_SIGNATURES: usize = 8;

/// A payload and who signed it. Nothing of it is to be believed before it is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    pub(crate) payload: Vec<u8>,
    pub(crate) signatures: Vec<Signed>,
}

/// One signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signed {
    /// Which key claims it: a hint where to look.
    pub(crate) key_id: String,
    /// The signature.
    pub(crate) signature: [u8; SIGNATURE_BYTES],
}

/// Signs a statement.
#[must_use]
pub fn sign(key: &SecretKey, statement: &Statement) -> Envelope {
    let mut envelope = Envelope { payload: statement.to_bytes(), signatures: Vec::new() };
    envelope.countersign(key);
    envelope
}

impl Envelope {
    /// Adds another key's signature over the same statement: while one key takes over from another, both sign.
    pub fn countersign(&mut self, key: &SecretKey) {
        let signature = key.sign(&self.signed_bytes());
        self.signatures.push(Signed { key_id: key.public().id().to_string(), signature });
    }

    /// The bytes that a signature is over.
    pub(crate) fn signed_bytes(&self) -> Vec<u8> {
        pre_authentication_encoding(PAYLOAD_TYPE, &self.payload)
    }

    /// The envelope as the line of JSON that stands in a file.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let signatures = self
            .signatures
            .iter()
            .map(|signed| WireSignature { keyid: &signed.key_id, sig: STANDARD.encode(signed.signature) });
        let wire = Wire {
            payload: STANDARD.encode(&self.payload),
            payload_type: PAYLOAD_TYPE,
            signatures: signatures.collect(),
        };
        let mut json = serde_json::to_vec(&wire).expect("texts are JSON");
        json.push(b'\n');
        json
    }

    /// Reads an envelope.
    ///
    /// # Errors
    /// Every rule from `envelope-too-large` to `signature-malformed`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_ENVELOPE_BYTES {
            let reason = format!("it has {} bytes, and at most {MAX_ENVELOPE_BYTES} are read", bytes.len());
            return Err(Refusal::by(Rule::EnvelopeTooLarge, "envelope", reason, "is this the signature's file?"));
        }
        let mut root = json::read(bytes, "envelope", Rule::EnvelopeMalformed)?;
        let found = root.text("payloadType")?;
        let encoded = root.text("payload")?;
        let signatures = root.objects("signatures")?;
        root.end()?;
        if found != PAYLOAD_TYPE {
            let reason = format!("it is {}, and only `{PAYLOAD_TYPE}` is accepted", quoted(&found));
            let mend = "make the signature with `tidegate sign`";
            return Err(Refusal::by(Rule::PayloadType, "envelope.payloadType", reason, mend));
        }
        let payload = decoded(&encoded, "envelope.payload")?;
        Ok(Self { payload, signatures: parse_signatures(signatures)? })
    }
}

/// DSSE's PAE: `DSSEv1`, and the lengths in bytes and the bytes of type and payload, separated by spaces.
pub(crate) fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

fn parse_signatures(list: Vec<Object>) -> Result<Vec<Signed>, Refusal> {
    let place = "envelope.signatures";
    if list.is_empty() {
        return Err(Refusal::by(
            Rule::NoSignature,
            place,
            "the list is empty",
            "sign the component with `tidegate sign`",
        ));
    }
    if list.len() > MAX_SIGNATURES {
        let reason = format!("there are {}, and at most {MAX_SIGNATURES} are checked", list.len());
        return Err(Refusal::by(Rule::TooManySignatures, place, reason, "keep those of the tenant's keys"));
    }
    list.into_iter().map(parse_signature).collect()
}

fn parse_signature(mut object: Object) -> Result<Signed, Refusal> {
    let place = object.place_of("keyid");
    let key_id = object.text_if_there("keyid")?.filter(|id| !id.is_empty());
    let encoded = object.text("sig")?;
    let place_of_signature = object.place_of("sig");
    object.end()?;
    let Some(key_id) = key_id else {
        let mend = "make the signature with `tidegate sign`, which names it";
        return Err(Refusal::by(Rule::KeyIdMissing, place, "the signature does not name its key", mend));
    };
    let bytes = decoded(&encoded, &place_of_signature)?;
    let signature = <[u8; SIGNATURE_BYTES]>::try_from(bytes.as_slice()).map_err(|_| {
        let reason = format!("it has {} bytes, and an Ed25519 signature has {SIGNATURE_BYTES}", bytes.len());
        Refusal::by(Rule::SignatureMalformed, &place_of_signature, reason, "copy the signature's file again, whole")
    })?;
    Ok(Signed { key_id, signature })
}

fn decoded(text: &str, place: &str) -> Result<Vec<u8>, Refusal> {
    STANDARD.decode(text).map_err(|error| {
        let mend = "copy the signature's file again, whole; only standard base64 with padding is accepted";
        Refusal::by(Rule::Base64NotCanonical, place, error.to_string(), mend)
    })
}

/// The envelope's document. The order of the fields here is the order on the wire.
#[derive(Serialize)]
struct Wire<'a> {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: &'static str,
    signatures: Vec<WireSignature<'a>>,
}

#[derive(Serialize)]
struct WireSignature<'a> {
    keyid: &'a str,
    sig: String,
}

#[cfg(test)]
mod tests;
