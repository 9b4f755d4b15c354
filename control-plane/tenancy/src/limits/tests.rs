//! Every limit at its bounds and beyond, and sums that would overflow.

use serde_json::json;

use super::*;

/// The default limits with one of them set, by its name in JSON, and the limits that it has to fit moved out of the way.
fn with(name: &str, value: u64) -> Option<TenantLimits> {
    let mut fields = serde_json::to_value(TenantLimits::default()).expect("limits are JSON");
    fields["record_bytes"] = json!(KIB);
    fields["append_bytes"] = json!(if name == "record_bytes" { 64 * MIB } else { KIB });
    fields["log_bytes"] = json!(16 * 1024 * GIB);
    fields[name] = json!(value);
    serde_json::from_value(fields).ok()
}

#[test]
fn the_defaults_are_allowed() {
    assert_eq!(TenantLimits::default().check(), Ok(()));
    assert_eq!(serde_json::from_value::<TenantLimits>(json!({})).expect("all left out"), TenantLimits::default());
}

#[test]
fn the_table_has_every_limit_once_under_its_name() {
    let fields = serde_json::to_value(TenantLimits::default()).expect("limits are JSON");
    let fields = fields.as_object().expect("an object");
    assert_eq!(fields.len(), LIMITS.len());
    for rule in &LIMITS {
        assert_eq!(fields[rule.name], json!((rule.get)(&TenantLimits::default())), "{}", rule.name);
    }
}

#[test]
fn each_limit_is_held_to_its_bounds() {
    for rule in &LIMITS {
        for value in [rule.min, rule.max] {
            let limits = with(rule.name, value).expect("the bounds can be written");
            assert_eq!(limits.check(), Ok(()), "{} {value}", rule.name);
        }
        for value in [0, rule.min - 1, rule.max + 1, u64::from(u32::MAX), u64::MAX] {
            if (rule.min..=rule.max).contains(&value) {
                continue;
            }
            // What its type can not hold is refused when it is read.
            let Some(limits) = with(rule.name, value) else { continue };
            let error = limits.check().expect_err("it is out of bounds");
            assert!(
                matches!(error, LimitError::OutOfBounds { name, value: said, .. } if name == rule.name && said == value)
            );
            let said = error.to_string();
            assert!(
                said.contains(rule.name) && said.contains(&rule.max.to_string()) && said.contains(rule.unit),
                "{said}"
            );
        }
    }
}

#[test]
fn what_is_no_such_number_is_refused_when_it_is_read() {
    for wrong in [
        json!({"jobs": 4_294_967_296_u64}),
        json!({"jobs": -1}),
        json!({"jobs": 1.5}),
        json!({"jobs": "10"}),
        json!({"jobs": null}),
        json!({"job": 10}),
        json!({"call_fuel": 18_446_744_073_709_551_616_f64}),
    ] {
        assert!(serde_json::from_value::<TenantLimits>(wrong.clone()).is_err(), "{wrong}");
    }
    assert!(serde_json::from_value::<LimitsChange>(json!({"job": 10})).is_err());
}

#[test]
fn a_limit_that_another_never_lets_through_is_refused() {
    let limits = TenantLimits { append_bytes: 2 * MIB, record_bytes: 3 * 1024 * 1024, ..TenantLimits::default() };
    let said = limits.check().expect_err("no record of that size fits").to_string();
    assert!(said.contains("record_bytes") && said.contains("append_bytes"), "{said}");
    let limits = TenantLimits { append_bytes: 2 * MIB, log_bytes: MIB, ..TenantLimits::default() };
    assert!(matches!(limits.check(), Err(LimitError::Unreachable { name: "append_bytes", other: "log_bytes", .. })));
}

#[test]
fn a_change_sets_what_it_names_only() {
    let before = TenantLimits { jobs: 7, ..TenantLimits::default() };
    for rule in &LIMITS {
        let change: LimitsChange = serde_json::from_value(json!({ rule.name: rule.min })).expect("a change");
        let after = serde_json::to_value(change.apply(&before)).expect("limits are JSON");
        let mut expected = serde_json::to_value(&before).expect("limits are JSON");
        expected[rule.name] = json!(rule.min);
        assert_eq!(after, expected);
    }
    assert_eq!(LimitsChange::default().apply(&before), before);
}

#[test]
fn room_ends_at_the_limit() {
    let limits = TenantLimits { jobs: 3, ..TenantLimits::default() };
    assert_eq!(limits.room("jobs", 2, 1), Ok(()));
    assert_eq!(limits.room("jobs", 3, 0), Ok(()));
    let error = limits.room("jobs", 3, 1).expect_err("there is no room");
    assert_eq!((error.limit, error.allowed, error.used, error.asked), ("jobs", 3, 3, 1));
    assert_eq!(
        error.to_string(),
        "limit jobs: 3 of 3 jobs are used, 1 more are too many: give some back, or ask a platform admin to raise the limit"
    );
}

/// Against arithmetic that can not overflow, with numbers around every power of two.
#[test]
fn sums_over_limits_saturate() {
    let mut state = 42_u64;
    println!("seed {state}");
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let power = 1_u64.checked_shl(u32::try_from((state >> 32) % 66).expect("small")).unwrap_or(0);
        power.wrapping_add((state >> 40) % 5).wrapping_sub(2)
    };
    for _ in 0..20_000 {
        let (used, asked) = (number(), number());
        for rule in &LIMITS {
            let limits = TenantLimits::default();
            let fits = u128::from(used) + u128::from(asked) <= u128::from((rule.get)(&limits));
            assert_eq!(limits.room(rule.name, used, asked).is_ok(), fits, "{} {used} {asked}", rule.name);
        }
    }
}

#[test]
fn the_document_has_every_limit_with_its_numbers() {
    let document = include_str!("../../../../docs/tenancy.md");
    for rule in &LIMITS {
        let default = (rule.get)(&TenantLimits::default());
        let row = format!(
            "| `{}` | {} | {} | {} | {} |",
            rule.name,
            rule.unit,
            of(rule, default),
            of(rule, rule.min),
            of(rule, rule.max)
        );
        assert!(document.contains(&row), "docs/tenancy.md lacks the row {row}");
    }
}

/// A number for people: 24 MiB, 80,000,000.
fn of(rule: &LimitRule, value: u64) -> String {
    for (size, unit) in [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
        if rule.unit.starts_with("bytes") && value.is_multiple_of(size) {
            return format!("{} {unit}", grouped(value / size));
        }
    }
    grouped(value)
}

fn grouped(value: u64) -> String {
    if value < 1_000 { value.to_string() } else { format!("{},{:03}", grouped(value / 1_000), value % 1_000) }
}

#[test]
fn an_old_record_without_a_newer_limit_has_its_default() {
    let mut fields = serde_json::to_value(TenantLimits::default()).expect("limits are JSON");
    fields.as_object_mut().and_then(|fields| fields.remove("lanes")).expect("it was there");
    let read = serde_json::from_value::<TenantLimits>(fields).expect("it is read");
    assert_eq!(read.lanes, TenantLimits::default().lanes);
}
