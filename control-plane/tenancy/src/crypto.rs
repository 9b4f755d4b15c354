//! The one algorithm that this process signs and verifies tokens with: Ed25519.
//!
//! `jsonwebtoken` takes its cryptography from a provider of the whole process. Ours answers every algorithm but EdDSA with an
//! error, so no mistake in a header, a key or a setting can make a token of another algorithm count. Invariant: keys are raw
//! (32 bytes of seed, 32 bytes of public key), and verification is strict (RFC 8032, no small-order points).

use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, EncodingKey};
use signature::{Error, Signer, Verifier};

/// What `jsonwebtoken` uses in this process. It demands a static.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: new_signer,
    verifier_factory: new_verifier,
    // For keys in JWK form only, which are never used.
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the provider, once for the process; whether it is ours that is installed.
pub(crate) fn install() -> bool {
    let _already = PROVIDER.install_default();
    CryptoProvider::try_get_default().is_some_and(|installed| std::ptr::eq(installed, &PROVIDER))
}

struct EdSigner(SigningKey);

struct EdVerifier(VerifyingKey);

fn new_signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let seed: &[u8; 32] = key.as_bytes().try_into().map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(EdSigner(SigningKey::from_bytes(seed))))
}

fn new_verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if *algorithm != Algorithm::EdDSA || key.family() != AlgorithmFamily::Ed {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let bytes: &[u8; 32] = key.try_get_as_bytes()?.try_into().map_err(|_| ErrorKind::InvalidEddsaKey)?;
    let key = VerifyingKey::from_bytes(bytes).map_err(|_| ErrorKind::InvalidEddsaKey)?;
    Ok(Box::new(EdVerifier(key)))
}

impl Signer<Vec<u8>> for EdSigner {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(self.0.try_sign(message)?.to_bytes().to_vec())
    }
}

impl JwtSigner for EdSigner {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

impl Verifier<Vec<u8>> for EdVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        self.0.verify_strict(message, &Signature::from_slice(signature)?)
    }
}

impl JwtVerifier for EdVerifier {
    fn algorithm(&self) -> Algorithm {
        Algorithm::EdDSA
    }
}

#[cfg(test)]
mod tests;
