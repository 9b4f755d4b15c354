//! The map hook: one ad event in, the same event as something to count out, or a refusal that says what is wrong with it.
//!
//! The pipeline counts by bare names: `impressions: count` is how many values of `impressions` are not null. So an impression
//! has 1 there and null under `clicks`, and a click the other way round.

use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// An ad event as the ad servers send it.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct AdEvent<'a> {
    /// The campaign.
    pub campaign_id: &'a str,
    /// Where it was shown: two capital letters.
    pub country: &'a str,
    /// The event's identity; the same event may be sent more than once.
    pub event_id: &'a str,
    /// `impression` or `click`.
    pub kind: &'a str,
    /// What it cost, in millionths of the account's currency; null where it cost nothing.
    pub spend_micros: Option<i64>,
}

/// What is added to an event. Its identity and its key ride along ([`Classify::KEEP`](Mapper::KEEP)).
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Classified {
    /// 1 for an impression, else null.
    pub impressions: Option<i64>,
    /// 1 for a click, else null.
    pub clicks: Option<i64>,
    /// Millionths, null where it cost nothing.
    pub spend_micros: Option<i64>,
}

/// The map hook.
pub struct Classify;

/// More than a thousand units for one event is a mistake of the ad server.
const MOST_SPEND_MICROS: i64 = 1_000_000_000;

impl Mapper for Classify {
    type Config = ();
    type In<'a> = AdEvent<'a>;
    type Out<'a> = Classified;
    const KEEP: &'static [&'static str] = &["campaign_id", "country", "event_id"];

    fn open(_config: (), _input: &[Field]) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn map<'a>(&'a self, event: AdEvent<'a>) -> Result<Classified, Reject> {
        if event.event_id.is_empty() {
            return Err(reject!("no-event-id", "an event of campaign {} has no identity", event.campaign_id));
        }
        if event.campaign_id.is_empty() {
            return Err(reject!("no-campaign", "event {} belongs to no campaign", event.event_id));
        }
        if !is_country(event.country) {
            return Err(reject!("bad-country", "`{}` is not two capital letters", event.country));
        }
        match event.spend_micros {
            Some(spend) if spend < 0 => return Err(reject!("negative-spend", "{spend} micros")),
            Some(spend) if spend > MOST_SPEND_MICROS => {
                return Err(reject!("impossible-spend", "{spend} micros for one event"));
            }
            spend_micros => match event.kind {
                "impression" => Ok(Classified { impressions: Some(1), clicks: None, spend_micros }),
                "click" => Ok(Classified { impressions: None, clicks: Some(1), spend_micros }),
                other => Err(reject!("unknown-kind", "`{other}` is neither impression nor click")),
            },
        }
    }
}

fn is_country(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_uppercase())
}

#[cfg(test)]
mod tests;
