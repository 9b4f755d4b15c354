//! Requests by browser and system: a map hook that reads `User-Agent` texts with the `regex` crate.
//!
//! It is here for its size: with the crate's engines and its tables of Unicode it is a component of about 1 MB, as they come
//! once a hook uses a library of some weight. `tests/bench/sign-to-running.sh` measures its way to a running job.

use regex::RegexSet;
use tidegate_sdk::{Fault, Field, Mapper, Reject, Row, reject};

/// A request as a web server logs it.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// What the browser calls itself.
    pub user_agent: &'a str,
}

/// What the name says.
#[derive(Row, Clone, Debug, PartialEq)]
pub struct Seen<'a> {
    /// The browser's family.
    pub browser: &'a str,
    /// The operating system.
    pub system: &'a str,
}

/// The first that fits counts: browsers name those before them too.
const BROWSERS: &[(&str, &str)] = &[
    ("bot", r"(?i)\b(?:\w*bot|crawler|spider|slurp)\b"),
    ("edge", r"\bEdgi?A?/\d+"),
    ("opera", r"\b(?:OPR|Opera)/\d+"),
    ("firefox", r"\b(?:Firefox|FxiOS)/\d+"),
    ("chrome", r"\b(?:Chrome|CriOS)/\d+"),
    ("safari", r"\bVersion/\d[\d.]* (?:Mobile/\w+ )?Safari/\d+"),
];

const SYSTEMS: &[(&str, &str)] = &[
    ("ios", r"\b(?:iPhone|iPad|iPod)\b"),
    ("android", r"\bAndroid \d+"),
    ("windows", r"\bWindows NT \d+\.\d+"),
    ("macos", r"\bMac OS X \d+[._]\d+"),
    ("linux", r"\b(?:Linux|X11)\b"),
];

/// The map hook.
pub struct Classify {
    browsers: RegexSet,
    systems: RegexSet,
    /// What no name holds: text that no person writes into one.
    broken: RegexSet,
}

impl Mapper for Classify {
    type Config = ();
    type In<'a> = Request<'a>;
    type Out<'a> = Seen<'a>;
    const KEEP: &'static [&'static str] = &[];

    fn open(_config: (), _input: &[Field]) -> Result<Self, Fault> {
        let set = |texts: &[(&str, &str)]| {
            RegexSet::new(texts.iter().map(|(_, text)| *text)).map_err(|error| Fault::new(error.to_string()))
        };
        let broken = RegexSet::new([r"[\p{Cc}\p{Co}\p{Cn}]", r"^\s*$"]).map_err(|error| Fault::new(error.to_string()))?;
        Ok(Self { browsers: set(BROWSERS)?, systems: set(SYSTEMS)?, broken })
    }

    fn map<'a>(&'a self, request: Request<'a>) -> Result<Seen<'a>, Reject> {
        if self.broken.is_match(request.user_agent) {
            return Err(reject!("broken-name", "the name is empty or has control characters"));
        }
        let first = |set: &RegexSet, names: &[(&'static str, &str)]| {
            set.matches(request.user_agent).iter().next().map_or("other", |place| names[place].0)
        };
        Ok(Seen { browser: first(&self.browsers, BROWSERS), system: first(&self.systems, SYSTEMS) })
    }
}

tidegate_sdk::export! {
    mapper: Classify,
}
