//! Every form of a bound.

use super::*;

const DAY: Hours = Hours { opens: 570, closes: 960 };

fn bound(text: &str) -> Result<Bound, String> {
    Bound::try_from(text.to_owned())
}

#[test]
fn bounds_are_times_of_day_or_relative_to_the_hours() {
    let cases =
        [("04:00", 240), ("open", 570), ("close", 960), ("open+15m", 585), ("close-30m", 930), ("close+4h", 1_200)];
    for (text, minutes) in cases {
        assert_eq!(bound(text).map(|bound| bound.on(DAY)), Ok(minutes), "{text}");
    }
}

#[test]
fn anything_else_is_refused_with_the_way_out() {
    for text in ["4:00", "opening", "close-", "close-30", "close*2m", "close--5m", "noon", "close+99999h", "open é"] {
        assert!(bound(text).unwrap_err().contains("close-30m"), "{text}");
    }
    assert!(Minutes::try_from("30s".to_owned()).is_err());
}
