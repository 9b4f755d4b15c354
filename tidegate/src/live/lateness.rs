//! The closing screen's words about time: where the watermark stood, and the `max_delay` that the records would need.

use tidegate_dataflow::SourceReport;
use tidegate_types::batch::index;
use tidegate_types::{Millis, Value};
use tidegate_windows::{PartitionReport, Standing};

use super::text::{self, count, fit, width};
use super::view::partition_name;
use crate::run::as_max_delay;

/// Partitions that are shown: those that need the most.
const SHOWN: usize = 5;

/// The lines; none for a source that gave no record.
pub(super) fn lines(source: &SourceReport) -> Vec<String> {
    let mut partitions: Vec<&PartitionReport> = source.watermarks.partitions.iter().collect();
    partitions.retain(|partition| partition.lateness.count() > 0);
    if partitions.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = source.watermarks.before_end.iter().map(|standing| ended(source, standing)).collect();
    lines.push("How far records lay behind the newest of their partition (which max_delay covers):".to_owned());
    // Stable: partitions that need the same stand in their own order.
    partitions.sort_by_key(|partition| std::cmp::Reverse(partition.lateness.max_delay_for_999()));
    let names: Vec<String> = partitions.iter().take(SHOWN).map(|partition| name(source, partition)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    for (partition, name) in partitions.iter().zip(&names) {
        let summary = partition.lateness.summary();
        lines.push(format!(
            "  {}{:>11} records; half within {}, 99% within {}, all within {}; 99.9% need max_delay {}",
            fit(name, widest, false),
            count(partition.lateness.count()),
            text::span(summary.p50),
            text::span(summary.p99),
            text::span(summary.max),
            as_max_delay(summary.p999),
        ));
    }
    if partitions.len() > SHOWN {
        lines.push(format!("  … and {} partitions that need less (--report FILE has all)", partitions.len() - SHOWN));
    }
    lines
}

/// Where the watermark stood when the input ended.
fn ended(source: &SourceReport, standing: &Standing) -> String {
    let mut line = format!("Before the end of input the watermark was {}", text::watermark(standing.watermark));
    if let Some(lag) = standing.lag() {
        line.push_str(&format!(", {} behind the clock", text::span(Millis(lag))));
    }
    if let Some((id, _)) = standing.slowest {
        let name = source.partitions.get(index(id.0)).map_or_else(|| id.0.to_string(), partition_name);
        line.push_str(&format!(", held back by {name}"));
    }
    line + "."
}

fn name(source: &SourceReport, partition: &PartitionReport) -> String {
    partition_name(source.partitions.get(index(partition.id.0)).unwrap_or(&Value::Null))
}

#[cfg(test)]
mod tests {
    use tidegate_pipeline::{Strategy, WatermarkSpec};
    use tidegate_types::PartitionId;
    use tidegate_windows::{ClockStart, SourceWatermarks};

    use super::*;

    fn source(partitions: u32) -> SourceWatermarks {
        let strategy = Strategy::BoundedOutOfOrderness { max_delay: Millis(60_000) };
        let spec = WatermarkSpec { strategy, idle_partition_timeout: None, max_drift: None };
        SourceWatermarks::new(&spec, index(partitions), ClockStart::Assignment(3_600_000))
    }

    fn report(mut watermarks: SourceWatermarks, names: &[Value]) -> SourceReport {
        watermarks.end((0_u32..).take(names.len()).map(PartitionId));
        SourceReport { source: "source".into(), partitions: names.to_vec(), watermarks: watermarks.report() }
    }

    #[test]
    fn says_which_partition_needs_the_most() {
        let mut watermarks = source(2);
        for (id, time) in [(0, 3_000_000), (1, 3_000_000), (1, 2_400_000), (1, 2_999_000)] {
            watermarks.record(PartitionId(id), time, None);
        }
        let names = [Value::Text("EWR".into()), Value::Text("JFK".into())];
        let expected = [
            "Before the end of input the watermark was 1970-01-01 00:49, 11 min behind the clock, held back by EWR.",
            "How far records lay behind the newest of their partition (which max_delay covers):",
            "  JFK          3 records; half within 1.0 s, 99% within 10 min, all within 10 min; 99.9% need max_delay 10m",
            "  EWR          1 records; half within 0 ms, 99% within 0 ms, all within 0 ms; 99.9% need max_delay 0ms",
        ];
        assert_eq!(lines(&report(watermarks, &names)), expected);
    }

    #[test]
    fn many_partitions_take_few_lines() {
        let mut watermarks = source(40);
        for id in 0..40 {
            watermarks.record(PartitionId(id), 0, None);
        }
        let names: Vec<Value> = (0..40).map(Value::Int).collect();
        let lines = lines(&report(watermarks, &names));
        assert_eq!(lines.len(), SHOWN + 3);
        assert!(lines[SHOWN + 2].contains("and 35 partitions"), "{}", lines[SHOWN + 2]);
    }

    #[test]
    fn a_source_without_records_says_nothing() {
        assert_eq!(lines(&report(source(1), &[Value::Null])), Vec::<String>::new());
    }
}
