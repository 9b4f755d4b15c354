//! Why a component is not admitted.

use tidegate_signing::Refusal;

/// Why a component is not admitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmitError {
    /// It breaks a rule.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The host could not find out, so nothing is said of the component: try again, or look at the machine.
    #[error("the component could not be looked at: {reason}")]
    Unavailable {
        /// What failed.
        reason: String,
    },
}

impl AdmitError {
    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }
}
