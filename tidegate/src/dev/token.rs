//! The first platform admin's token: made once, kept in the data folder for its owner, made again when it no longer counts.

use std::time::Duration;

use tidegate_tenancy::Tenancy;

use super::data::DataFolder;
use crate::failure::{Failure, describe};

/// How long it counts.
const TTL: Duration = Duration::from_secs(30 * 86_400);
/// Its name in the audit trail.
const SUBJECT: &str = "first-admin";

/// Where the token that is in the folder came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// It was there, and counts.
    Kept,
    /// It was made now.
    Minted,
}

/// Sees to it that a token which counts is in the folder.
pub(super) async fn admin(tenancy: &Tenancy, data: &DataFolder) -> Result<Token, Failure> {
    if let Some(token) = data.admin_token()
        && tenancy.authenticate(&token).await.is_ok()
    {
        return Ok(Token::Kept);
    }
    let issued = tenancy.first_token(SUBJECT, TTL).await;
    let issued = issued.map_err(|error| Failure::external(format!("no admin token: {}", describe(&error))))?;
    data.write_admin_token(&issued.token)?;
    Ok(Token::Minted)
}
