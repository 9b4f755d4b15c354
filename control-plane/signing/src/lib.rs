//! Signed statements about components: DSSE envelopes over Ed25519.
