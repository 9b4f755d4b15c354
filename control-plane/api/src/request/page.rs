//! The pages of lists: where one begins and how long it is, the same for every list.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::{Answer, Problem};

/// The items of a page unless told.
const DEFAULT_ITEMS: usize = 100;
/// The most items of a page.
const MAX_ITEMS: usize = 1_000;

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// What comes behind this one: `next` of the page before.
    pub(crate) after: Option<String>,
    /// So many at most: 1 to 1000, 100 unless told.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<usize>,
}

/// A page's length.
pub(crate) fn page_length(limit: Option<usize>) -> Answer<usize> {
    let limit = limit.unwrap_or(DEFAULT_ITEMS);
    if (1..=MAX_ITEMS).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::invalid("limit", format!("{limit} is not from 1 to {MAX_ITEMS}")))
}
