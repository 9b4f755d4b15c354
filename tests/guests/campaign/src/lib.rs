//! A map hook over ad events, written row by row as a tenant would: it checks each event and derives two fields.
//!
//! Reads `campaign_id`, `country`, `event_id` (text), `impressions`, `clicks`, `spend_micros` (int); gives all of them back with
//! `click_rate` (float, clicks per impression) and `paid` (bool). Rejects negative numbers (`negative-number`) and more clicks than
//! impressions (`impossible-clicks`). No config.

use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// An ad event, as it comes in.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Event<'a> {
    /// The campaign.
    pub campaign_id: &'a str,
    /// Two letters.
    pub country: &'a str,
    /// The event's identity.
    pub event_id: &'a str,
    /// How often the ad was shown.
    pub impressions: i64,
    /// How often it was clicked.
    pub clicks: i64,
    /// Its cost in millionths.
    pub spend_micros: i64,
}

/// An ad event, as it goes out.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Rated<'a> {
    /// The campaign.
    pub campaign_id: &'a str,
    /// Two letters.
    pub country: &'a str,
    /// The event's identity.
    pub event_id: &'a str,
    /// How often the ad was shown.
    pub impressions: i64,
    /// How often it was clicked.
    pub clicks: i64,
    /// Its cost in millionths.
    pub spend_micros: i64,
    /// Clicks per impression.
    pub click_rate: f64,
    /// Whether it cost anything.
    pub paid: bool,
}

/// The hook.
pub struct Campaign;

impl Mapper for Campaign {
    type Config = ();
    type In<'a> = Event<'a>;
    type Out<'a> = Rated<'a>;

    fn open((): (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn map<'a>(&'a self, event: Event<'a>) -> Result<Rated<'a>, Reject> {
        let Event { campaign_id, country, event_id, impressions, clicks, spend_micros } = event;
        if impressions < 0 || clicks < 0 || spend_micros < 0 {
            return Err(reject!(
                "negative-number",
                "event {event_id}: {impressions} shown, {clicks} clicked, {spend_micros} spent"
            ));
        }
        if clicks > impressions {
            return Err(reject!("impossible-clicks", "event {event_id}: {clicks} clicks on {impressions} impressions"));
        }
        let click_rate = if impressions == 0 { 0.0 } else { clicks as f64 / impressions as f64 };
        Ok(Rated {
            campaign_id,
            country,
            event_id,
            impressions,
            clicks,
            spend_micros,
            click_rate,
            paid: spend_micros > 0,
        })
    }
}

tidegate_sdk::export! {
    mapper: Campaign,
}
