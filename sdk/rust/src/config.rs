//! A hook's `config`: JSON in the pipeline file, a struct of the tenant's here.

use serde::de::DeserializeOwned;

use crate::columns::Fault;

/// Reads a hook's config. A pipeline that gives none means the same as one that gives an empty object: `()` and a struct whose
/// fields all have defaults both accept either.
///
/// Every error names the place in the JSON and what was expected there.
pub(crate) fn parse<C: DeserializeOwned>(text: &str) -> Result<C, Fault> {
    let refused = match serde_json::from_str(text) {
        Ok(config) => return Ok(config),
        Err(refused) => refused,
    };
    let other = match text.trim() {
        "" | "null" => "{}",
        "{}" => "null",
        _ => return Err(Fault::new(format!("config: {refused}"))),
    };
    serde_json::from_str(other).map_err(|missing| {
        // Of an absent config, "missing field `x`" helps more than "invalid type: null".
        let told = if other == "{}" { missing } else { refused };
        Fault::new(format!("config: {told}"))
    })
}
