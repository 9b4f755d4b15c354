//! What a tenant has in its registry, in numbers: one document that every upload changes, so that two uploads at once never
//! both fit where one does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_signing::Version;
use tidegate_store::{Change, Document, Expect, StoreError};

/// The store's kind; the path is the tenant.
pub(crate) const KIND: &str = "artifact-index";

/// The numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    /// Versions that were ever admitted.
    pub(crate) versions: u64,
    /// The highest version of each name that was ever admitted, revoked ones too.
    highest: BTreeMap<String, String>,
    /// The version of the document that this was read from.
    #[serde(skip)]
    read: Option<u64>,
}

impl Index {
    pub(crate) fn read(document: Option<&Document>) -> Result<Self, StoreError> {
        let Some(document) = document else { return Ok(Self::default()) };
        let corrupt =
            |reason: String| StoreError::Corrupt { reason: format!("the {KIND} `{}`: {reason}", document.path) };
        let index = Self::deserialize(&document.body).map_err(|error| corrupt(error.to_string()))?;
        if let Some(wrong) = index.highest.values().find(|version| version.parse::<Version>().is_err()) {
            return Err(corrupt(format!("`{wrong}` is no version")));
        }
        Ok(Self { read: Some(document.version), ..index })
    }

    /// The highest version of this name that was ever admitted.
    pub(crate) fn highest(&self, name: &str) -> Option<Version> {
        self.highest.get(name).map(|version| version.parse().expect("`read` checked the versions"))
    }

    /// The index with one version more, as a change that fails if somebody else changed it since it was read.
    pub(crate) fn with(&self, tenant: &str, name: &str, version: &Version) -> Change {
        let mut next = self.clone();
        next.versions = next.versions.saturating_add(1);
        next.highest.insert(name.to_owned(), version.to_string());
        let body = serde_json::to_value(&next).expect("an index is a plain struct with text keys");
        let expect = self.read.map_or(Expect::Absent, Expect::Version);
        Change::Put { kind: KIND.to_owned(), path: tenant.to_owned(), body, expect }
    }
}
