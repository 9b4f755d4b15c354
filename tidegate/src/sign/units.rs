//! Durations and sizes as flags say them: a whole number and a unit.

/// A duration in ms: `90d`, `12h`, `30m`, `45s`.
pub(super) fn duration_ms(text: &str) -> Result<i64, String> {
    let units = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let scaled = scaled(text, &units).and_then(|ms| i64::try_from(ms).ok());
    scaled.ok_or_else(|| "write a whole number above 0 and s, m, h or d, such as 90d".into())
}

/// A size in bytes: `67108864`, `65536KiB`, `64MiB`, `1GiB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)];
    scaled(text, &units).ok_or_else(|| "write a whole number above 0, and KiB, MiB or GiB, such as 64MiB".into())
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) = units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?;
        number.bytes().all(|digit| digit.is_ascii_digit()).then_some((number, factor))
    })?;
    number.parse::<u64>().ok()?.checked_mul(*factor).filter(|value| *value > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        assert_eq!(duration_ms("90d"), Ok(7_776_000_000));
        assert_eq!(["12h", "30m", "45s"].map(duration_ms), [Ok(43_200_000), Ok(1_800_000), Ok(45_000)]);
        for wrong in ["", "d", "90", "0d", "-1d", "1.5d", "90 d", "9w", "106751991168d", "99999999999999999999s"] {
            assert!(duration_ms(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_size_may_have_a_unit() {
        assert_eq!(["67108864", "65536KiB", "64MiB"].map(bytes), [Ok(64 << 20), Ok(64 << 20), Ok(64 << 20)]);
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        for wrong in ["", "MiB", "64MB", "64mib", "0", "0MiB", "-1", "1e3", "99999999999GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
