//! The rules of a signature, each with its name and its meaning: the one list of them.
//!
//! They stand in the order in which they are checked. Invariant: a code is in kebab-case, unique, and never changes its meaning.

/// A rule that a signed component must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The envelope has at most 64 KiB.
    EnvelopeTooLarge,
    /// The envelope is one JSON object of the known shape.
    EnvelopeMalformed,
    /// No field stands twice in an object.
    DuplicateField,
    /// No field is there that we do not know.
    UnknownField,
    /// The payload is an in-toto statement.
    PayloadType,
    /// Base64 is the standard alphabet with padding, in its one canonical form.
    Base64NotCanonical,
    /// Somebody signed.
    NoSignature,
    /// At most eight signed.
    TooManySignatures,
    /// A signature names its key.
    KeyIdMissing,
    /// A signature has 64 bytes.
    SignatureMalformed,
    /// A key that signed is trusted.
    KeyNotTrusted,
    /// The signature of a trusted key is its signature over this payload.
    SignatureInvalid,
    /// The key belongs to the tenant.
    KeyOfAnotherTenant,
    /// The key was not revoked.
    KeyRevoked,
    /// The key may still be used.
    KeyExpired,
    /// The statement is one JSON object of the known shape.
    StatementMalformed,
    /// It is an in-toto statement, version 1.
    StatementType,
    /// It says what we know how to check.
    PredicateType,
    /// The component has the digest that was signed.
    DigestMismatch,
    /// The component has the size that was signed.
    SizeMismatch,
    /// The bytes are a component, not a module, an image or text.
    NotAComponent,
    /// The statement is for this tenant.
    TenantMismatch,
    /// The statement is about the component that is asked for.
    NameMismatch,
    /// The statement is about the version that is asked for.
    VersionMismatch,
    /// The component is made for a world that this host has.
    WorldUnsupported,
    /// A statement ends after it begins, and within two years.
    LifetimeInvalid,
    /// The statement was not issued in the future.
    NotYetValid,
    /// The statement has not expired.
    Expired,
    /// A new version is higher than all before it.
    VersionNotNewer,
}

impl Rule {
    /// All rules, in the order in which they are checked.
    pub const ALL: [Self; 29] = [
        Self::EnvelopeTooLarge,
        Self::EnvelopeMalformed,
        Self::DuplicateField,
        Self::UnknownField,
        Self::PayloadType,
        Self::Base64NotCanonical,
        Self::NoSignature,
        Self::TooManySignatures,
        Self::KeyIdMissing,
        Self::SignatureMalformed,
        Self::KeyNotTrusted,
        Self::SignatureInvalid,
        Self::KeyOfAnotherTenant,
        Self::KeyRevoked,
        Self::KeyExpired,
        Self::StatementMalformed,
        Self::StatementType,
        Self::PredicateType,
        Self::DigestMismatch,
        Self::SizeMismatch,
        Self::NotAComponent,
        Self::TenantMismatch,
        Self::NameMismatch,
        Self::VersionMismatch,
        Self::WorldUnsupported,
        Self::LifetimeInvalid,
        Self::NotYetValid,
        Self::Expired,
        Self::VersionNotNewer,
    ];

    /// The rule's name, as refusals, logs and documents have it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::EnvelopeTooLarge => "envelope-too-large",
            Self::EnvelopeMalformed => "envelope-malformed",
            Self::DuplicateField => "duplicate-field",
            Self::UnknownField => "unknown-field",
            Self::PayloadType => "payload-type",
            Self::Base64NotCanonical => "base64-not-canonical",
            Self::NoSignature => "no-signature",
            Self::TooManySignatures => "too-many-signatures",
            Self::KeyIdMissing => "key-id-missing",
            Self::SignatureMalformed => "signature-malformed",
            Self::KeyNotTrusted => "key-not-trusted",
            Self::SignatureInvalid => "signature-invalid",
            Self::KeyOfAnotherTenant => "key-of-another-tenant",
            Self::KeyRevoked => "key-revoked",
            Self::KeyExpired => "key-expired",
            Self::StatementMalformed => "statement-malformed",
            Self::StatementType => "statement-type",
            Self::PredicateType => "predicate-type",
            Self::DigestMismatch => "digest-mismatch",
            Self::SizeMismatch => "size-mismatch",
            Self::NotAComponent => "not-a-component",
            Self::TenantMismatch => "tenant-mismatch",
            Self::NameMismatch => "name-mismatch",
            Self::VersionMismatch => "version-mismatch",
            Self::WorldUnsupported => "world-unsupported",
            Self::LifetimeInvalid => "lifetime-invalid",
            Self::NotYetValid => "not-yet-valid",
            Self::Expired => "expired",
            Self::VersionNotNewer => "version-not-newer",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_in_kebab_case() {
        let codes: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.code()).collect();
        assert_eq!(codes.len(), Rule::ALL.len());
        for code in codes {
            assert!(code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{code}");
        }
    }

    #[test]
    fn the_list_is_whole_and_in_order() {
        assert!(Rule::ALL.is_sorted(), "the order of declaration is the order of checking");
        let last = Rule::ALL.last().expect("there are rules");
        assert_eq!(*last, Rule::VersionNotNewer, "the last variant is in the list, so none before it is missing");
    }
}
