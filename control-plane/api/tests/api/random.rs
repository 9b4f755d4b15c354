//! Requests at random: whatever comes, no answer is a fault of the platform, and every answer is in the document.
//!
//! `SEED=n` runs one seed, `SEEDS=n` so many.

use axum::http::Method;
use serde_json::json;

use crate::harness::{Call, Platform, post};

const ROUNDS: u32 = 800;
const USUAL_SEEDS: u64 = 4;

/// What no answer may say: a thing of a tenant that never asks, places in the source, folders, words of the inside.
const INTERNAL: &[&str] = &["bolts-secret", ".rs:", "/root", "/work", "/tmp", "panic", "tidegate_", "SQL", "0x"];

/// A small generator (SplitMix64): the same seed draws the same requests.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).unwrap()
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.below(40);
        (0..length).map(|_| u8::try_from(self.next() % 256).unwrap()).collect()
    }

    /// Bytes as they can stand in a target.
    fn escaped(&mut self) -> String {
        self.bytes().iter().take(12).map(|byte| format!("%{byte:02x}")).collect()
    }

    fn segment(&mut self) -> String {
        match self.below(12) {
            0 => self.escaped(),
            1 => "x".repeat(self.below(300)),
            _ => self
                .of(&[
                    "v1",
                    "tenants",
                    "streams",
                    "jobs",
                    "artifacts",
                    "tables",
                    "acme",
                    "s",
                    "records",
                    "rows",
                    "seal",
                    "keys",
                    "tokens",
                    "1.0.0",
                    "..",
                    "",
                    "18446744073709551616",
                    "openapi.json",
                    "health",
                ])
                .to_owned(),
        }
    }

    fn path(&mut self) -> String {
        let known = [
            "/v1/tenants",
            "/v1/tenants/acme",
            "/v1/tenants/acme/tokens",
            "/v1/tenants/acme/keys",
            "/v1/artifacts",
            "/v1/artifacts/a/1.0.0",
            "/v1/jobs",
            "/v1/jobs/m",
            "/v1/streams",
            "/v1/streams/s",
            "/v1/streams/s/records",
            "/v1/streams/s/seal",
            "/v1/tables",
            "/v1/tables/t/rows",
        ];
        if self.below(4) > 0 {
            return self.of(&known).to_owned();
        }
        let length = 1 + self.below(6);
        (0..length).map(|_| format!("/{}", self.segment())).collect()
    }

    fn query(&mut self) -> String {
        let count = self.below(3);
        let names = ["partition", "from", "limit", "wait_ms", "key", "after", "where", "order", "reason", "name", "x"];
        let values =
            ["0", "1", "-1", "x", "99999999999999999999", "", "key", "changed", "id:a", "a:b:c", "%ff", "a/1.0.0"];
        let mut pairs = Vec::new();
        for _ in 0..count {
            let value = if self.below(6) == 0 { self.escaped() } else { self.of(&values).to_owned() };
            let name = self.of(&names);
            // A read that waits makes the test slow and finds nothing.
            pairs.push(if name == "wait_ms" { "wait_ms=1".to_owned() } else { format!("{name}={value}") });
        }
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    fn body(&mut self) -> Vec<u8> {
        let texts = [
            "",
            "{}",
            "[]",
            "null",
            "{\"name\":\"n\"}",
            "{\"name\":7}",
            "{\"limits\":{\"jobs\":-1}}",
            "{\"limits\":{\"jobs\":2}}",
            "{\"role\":\"viewer\",\"subject\":\"s\"}",
            "{\"role\":\"viewer\",\"subject\":\"s\",\"ttl_ms\":18446744073709551615}",
            "{\"public_key\":\"\",\"not_after\":-9223372036854775808}",
            "job: m\nversion: 1\n",
            "a: *b",
            "{\"a\":{\"a\":{}}}",
            "{\"name\":\"n\",\"partitions\":4294967295}",
            "{\"name\":\"n\",\"retention\":{\"age_ms\":18446744073709551615}}",
            "--b\r\nContent-Disposition: form-data; name=\"component\"\r\n\r\nx\r\n--b--\r\n",
            "a\nb\n",
            "\u{feff}{}",
        ];
        let mut body = if self.below(4) == 0 { self.bytes() } else { self.of(&texts).as_bytes().to_vec() };
        if !body.is_empty() && self.below(5) == 0 {
            let place = self.below(body.len());
            body[place] = u8::try_from(self.next() % 256).unwrap();
        }
        body
    }

    fn call(&mut self, platform: &Platform) -> Call {
        let methods = [Method::GET, Method::POST, Method::PATCH, Method::DELETE, Method::PUT, Method::OPTIONS];
        // A stream or a job that is gone has nothing to find, so deletions are rare.
        let method = methods[if self.below(20) == 0 { 3 } else { [0, 1, 1, 1, 2, 4, 5][self.below(7)] }].clone();
        let target = format!("{}{}", self.path(), self.query());
        let mut call = Call::new(method, &target);
        call = match self.below(10) {
            0 => call,
            1 => call.header("authorization", &format!("Bearer {}", self.escaped())),
            2 | 3 => call.by(&platform.root),
            _ => call.by(&platform.acme),
        };
        let kinds = [
            "application/json",
            "application/json",
            "application/yaml",
            "application/x-ndjson",
            "multipart/form-data; boundary=b",
            "multipart/form-data",
            "",
            "text/plain",
            "application/json; charset=\"",
            ";;;",
        ];
        if self.below(8) > 0 {
            call = call.header("content-type", self.of(&kinds));
        }
        for name in ["idempotency-key", "tidegate-producer", "tidegate-sequence", "if-match"] {
            if self.below(6) == 0 {
                call = call.header(name, self.of(&["1", "", "x", "\"1\"", "*", "18446744073709551615", "-1", "k k"]));
            }
        }
        call.body(self.body())
    }
}

#[expect(clippy::disallowed_methods, reason = "tests read the environment: whoever replays a seed names it there")]
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a seed is a number"));
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(USUAL_SEEDS),
    }
}

#[tokio::test]
async fn no_request_makes_the_platform_fail() {
    for seed in seeds() {
        println!("seed {seed} (SEED=n replays another)");
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let platform = Platform::new().await;
    platform.stream("s", 2).await;
    platform.tables.put("acme", "t", json!({ "id": "a", "n": 1 }));
    let hidden = json!({ "name": "bolts-secret" });
    platform.send(post("/v1/streams").by(&platform.bolt).json(&hidden)).await.has_status(201);
    let mut draw = Draw(seed);
    let (mut served, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let call = draw.call(&platform);
        let place = format!("seed {seed}, round {round}: {} {}", call.method(), call.path());
        let reply = platform.send(call).await;
        let text = reply.text();
        assert!(reply.status.as_u16() < 500, "{place} -> {text}");
        for inner in INTERNAL {
            assert!(!text.contains(inner), "{place} says {inner}: {text}");
        }
        if reply.status.is_success() { served += 1 } else { refused += 1 }
    }
    assert!(
        served > ROUNDS / 50 && refused > ROUNDS / 50,
        "it draws one kind only: {served} served, {refused} refused"
    );
}
