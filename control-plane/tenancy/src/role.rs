//! Roles and what each may do: the one table.
//!
//! Invariant: `Permission::roles` is the only place that grants anything. A platform admin governs tenants and holds none of a
//! tenant's own permissions: to act on a tenant's things it issues itself a token of that tenant, which the audit trail shows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a token makes of its bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Governs the platform: tenants, their limits, and tokens. Belongs to no tenant.
    PlatformAdmin,
    /// Governs one tenant: its tokens and signing keys, and everything that a developer may.
    TenantAdmin,
    /// Uploads artifacts, runs jobs, and writes to streams, in one tenant.
    Developer,
    /// Reads everything of one tenant but its tokens and its audit trail.
    Viewer,
}

/// One thing that a caller may or may not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Make a tenant.
    CreateTenant,
    /// List all tenants.
    ListTenants,
    /// Delete a tenant.
    DeleteTenant,
    /// Set a tenant's limits.
    SetLimits,
    /// Read a tenant's record: its limits.
    ReadTenant,
    /// Issue tokens.
    IssueToken,
    /// Revoke tokens.
    RevokeToken,
    /// List tokens (never their text).
    ReadTokens,
    /// Read the audit trail.
    ReadAudit,
    /// Add and revoke signing keys.
    ManageKeys,
    /// List signing keys.
    ReadKeys,
    /// Upload artifacts.
    UploadArtifact,
    /// Revoke artifacts.
    RevokeArtifact,
    /// List and fetch artifacts.
    ReadArtifacts,
    /// Submit jobs.
    SubmitJob,
    /// Cancel jobs.
    CancelJob,
    /// List jobs and read their state.
    ReadJobs,
    /// Make streams.
    CreateStream,
    /// Append records to a stream.
    AppendRecords,
    /// Seal a stream's partitions.
    SealStream,
    /// Delete a stream with its records.
    DeleteStream,
    /// List streams and read their records.
    ReadStreams,
    /// List tables and read their rows.
    ReadTables,
}

impl Permission {
    /// Every permission, in the order of the table.
    pub const ALL: [Self; 23] = [
        Self::CreateTenant,
        Self::ListTenants,
        Self::DeleteTenant,
        Self::SetLimits,
        Self::ReadTenant,
        Self::IssueToken,
        Self::RevokeToken,
        Self::ReadTokens,
        Self::ReadAudit,
        Self::ManageKeys,
        Self::ReadKeys,
        Self::UploadArtifact,
        Self::RevokeArtifact,
        Self::ReadArtifacts,
        Self::SubmitJob,
        Self::CancelJob,
        Self::ReadJobs,
        Self::CreateStream,
        Self::AppendRecords,
        Self::SealStream,
        Self::DeleteStream,
        Self::ReadStreams,
        Self::ReadTables,
    ];

    /// Who has this permission: a platform admin for every tenant and the platform, the others for their own tenant.
    #[must_use]
    pub const fn roles(self) -> &'static [Role] {
        use Role::{Developer, PlatformAdmin, TenantAdmin, Viewer};
        match self {
            Self::CreateTenant | Self::ListTenants | Self::DeleteTenant | Self::SetLimits => &[PlatformAdmin],
            Self::ReadTenant => &[PlatformAdmin, TenantAdmin, Developer, Viewer],
            Self::IssueToken | Self::RevokeToken | Self::ReadTokens | Self::ReadAudit => &[PlatformAdmin, TenantAdmin],
            Self::ManageKeys | Self::DeleteStream => &[TenantAdmin],
            Self::UploadArtifact
            | Self::RevokeArtifact
            | Self::SubmitJob
            | Self::CancelJob
            | Self::CreateStream
            | Self::AppendRecords
            | Self::SealStream => &[TenantAdmin, Developer],
            Self::ReadKeys | Self::ReadArtifacts | Self::ReadJobs | Self::ReadStreams | Self::ReadTables => {
                &[TenantAdmin, Developer, Viewer]
            }
        }
    }

    /// What the permission allows, to be read after "may not".
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateTenant => "create a tenant",
            Self::ListTenants => "list tenants",
            Self::DeleteTenant => "delete a tenant",
            Self::SetLimits => "set limits",
            Self::ReadTenant => "read a tenant",
            Self::IssueToken => "issue tokens",
            Self::RevokeToken => "revoke tokens",
            Self::ReadTokens => "list tokens",
            Self::ReadAudit => "read the audit trail",
            Self::ManageKeys => "add or revoke signing keys",
            Self::ReadKeys => "list signing keys",
            Self::UploadArtifact => "upload artifacts",
            Self::RevokeArtifact => "revoke artifacts",
            Self::ReadArtifacts => "read artifacts",
            Self::SubmitJob => "submit jobs",
            Self::CancelJob => "cancel jobs",
            Self::ReadJobs => "read jobs",
            Self::CreateStream => "create streams",
            Self::AppendRecords => "append records",
            Self::SealStream => "seal streams",
            Self::DeleteStream => "delete streams",
            Self::ReadStreams => "read streams",
            Self::ReadTables => "read tables",
        }
    }
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::PlatformAdmin, Self::TenantAdmin, Self::Developer, Self::Viewer];

    /// Whether this role has a permission.
    #[must_use]
    pub fn has(self, permission: Permission) -> bool {
        permission.roles().contains(&self)
    }

    /// The role as it stands in tokens and in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlatformAdmin => "platform-admin",
            Self::TenantAdmin => "tenant-admin",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no role {0:?}: use platform-admin, tenant-admin, developer or viewer")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| UnknownRole(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
