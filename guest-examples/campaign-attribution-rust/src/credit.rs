//! The join hook: a click and its impression in, the click with what it is credited to out, or a refusal that says what does
//! not fit.
//!
//! A join hook is a mapper over pairs: the fields of the left row are called `left.<name>`, those of the right row
//! `right.<name>`. Where a row is missing, all its fields are null.

use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// A click, and the impression that it is on.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The impression; null, as all of its fields, for a click without one.
    #[row(name = "left.impression_id")]
    pub impression_id: Option<&'a str>,
    /// The campaign that was shown.
    #[row(name = "left.campaign_id")]
    pub shown_campaign: Option<&'a str>,
    /// Where it was shown.
    #[row(name = "left.placement")]
    pub placement: Option<&'a str>,
    /// When it was shown, ms.
    #[row(name = "left.shown_at")]
    pub shown_at: Option<i64>,
    /// The click.
    #[row(name = "right.click_id")]
    pub click_id: &'a str,
    /// The campaign that was clicked.
    #[row(name = "right.campaign_id")]
    pub campaign_id: &'a str,
    /// When it was clicked, ms.
    #[row(name = "right.clicked_at")]
    pub clicked_at: i64,
}

/// A click with what it is credited to.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Attributed<'a> {
    /// The click.
    pub click_id: &'a str,
    /// Its campaign.
    pub campaign_id: &'a str,
    /// The impression; null for a click without one.
    pub impression_id: Option<&'a str>,
    /// Where the impression was shown.
    pub placement: Option<&'a str>,
    /// How long the viewer took, ms.
    pub ms_to_click: Option<i64>,
}

/// The join hook.
pub struct Credit;

/// Nobody clicks sooner than this after an impression, ms.
const SOONEST_MS: i64 = 50;

impl Mapper for Credit {
    type Config = ();
    type In<'a> = Pair<'a>;
    type Out<'a> = Attributed<'a>;

    fn open(_config: (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn map<'a>(&'a self, pair: Pair<'a>) -> Result<Attributed<'a>, Reject> {
        if let Some(shown) = pair.shown_campaign.filter(|shown| *shown != pair.campaign_id) {
            return Err(reject!("other-campaign", "a click on {} came of an impression of {shown}", pair.campaign_id));
        }
        let ms_to_click = pair.shown_at.map(|shown_at| pair.clicked_at - shown_at);
        if let Some(soon) = ms_to_click.filter(|ms| *ms < SOONEST_MS) {
            return Err(reject!("too-soon", "clicked {soon} ms after the impression"));
        }
        Ok(Attributed {
            click_id: pair.click_id,
            campaign_id: pair.campaign_id,
            impression_id: pair.impression_id,
            placement: pair.placement,
            ms_to_click,
        })
    }
}

#[cfg(test)]
mod tests;
