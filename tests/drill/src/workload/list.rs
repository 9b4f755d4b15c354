//! The list of workloads.

use super::{Output, Stream, Workload};
use crate::events::{Shape, ad, lines, number, side, visit};

/// Much of everything, for one partition.
const ROUGH: Shape = Shape {
    events: 3_000,
    step: 250,
    disorder: 8_000,
    late: (25, 90_000),
    gone: (20, 300_000),
    repeated: 30,
    malformed: 8,
};

/// Out of order, but nothing late.
const CALM: Shape =
    Shape { events: 1_500, step: 500, disorder: 14_000, late: (0, 0), gone: (0, 0), repeated: 30, malformed: 8 };

/// The same for joins, where a copy is a partner of its own.
const PAIRED: Shape = Shape { events: 900, repeated: 10, ..CALM };

pub(super) const WORKLOADS: &[Workload] =
    &[CAMPAIGN, SESSIONS, SLIDING, CHAIN, JOIN, MEET, PROCESSOR, FOREVER, TRADING];

const CAMPAIGN: Workload = Workload {
    name: "campaign",
    pipeline: include_str!("../../pipelines/campaign.yaml"),
    streams: &[Stream { name: "campaign-ads", partitions: 1, make: |seed, _| lines(seed, ROUGH, ad) }],
    outputs: &[
        Output::Table("campaign_minutes"),
        Output::Results { stream: "campaign-panes", key: &["campaign_id", "country"], in_order: true },
        Output::Late("campaign-late"),
        Output::Dead("campaign-dead"),
    ],
    left_out: &[],
    counts: &["accepted", "too_late", "duplicate", "rejected"],
};

const SESSIONS: Workload = Workload {
    name: "sessions",
    pipeline: include_str!("../../pipelines/sessions.yaml"),
    streams: &[Stream { name: "sessions-visits", partitions: 1, make: rough_visits }],
    outputs: &[
        Output::Results { stream: "sessions-panes", key: &["user"], in_order: true },
        Output::Late("sessions-late"),
        Output::Dead("sessions-dead"),
    ],
    left_out: &[],
    counts: &["accepted", "too_late", "duplicate", "rejected", "retractions"],
};

const SLIDING: Workload = Workload {
    name: "sliding",
    pipeline: include_str!("../../pipelines/sliding.yaml"),
    streams: &[Stream {
        name: "sliding-visits",
        partitions: 2,
        make: |seed, partition| lines(seed, CALM, |chance, number, time| visit(chance, number, time, partition)),
    }],
    outputs: &[Output::Table("sliding_visits"), Output::Late("sliding-late"), Output::Dead("sliding-dead")],
    left_out: &["watermark"],
    counts: &["accepted", "duplicate", "rejected"],
};

const CHAIN: Workload = Workload {
    name: "chain",
    pipeline: include_str!("../../pipelines/chain.yaml"),
    streams: &[Stream { name: "chain-visits", partitions: 1, make: rough_visits }],
    outputs: &[
        Output::Table("chain_minutes"),
        Output::Results { stream: "chain-panes", key: &[], in_order: true },
        Output::Results { stream: "chain-users", key: &["user"], in_order: true },
        Output::Late("chain-late"),
        Output::Late("chain-later"),
        Output::Dead("chain-dead"),
    ],
    left_out: &[],
    counts: &["accepted", "too_late", "rejected", "retractions", "forwarded"],
};

const JOIN: Workload = Workload {
    name: "join",
    pipeline: include_str!("../../pipelines/join.yaml"),
    streams: &[
        Stream { name: "join-impressions", partitions: 2, make: sides },
        Stream { name: "join-clicks", partitions: 1, make: |seed, _| sides(seed, 2) },
    ],
    outputs: &[
        Output::Table("join_minutes"),
        Output::Results { stream: "join-pairs", key: &["ad"], in_order: false },
        Output::Late("join-late"),
        Output::Late("join-later"),
        Output::Dead("join-dead"),
    ],
    left_out: &["watermark"],
    counts: &["accepted", "rejected", "forwarded", "emitted"],
};

const MEET: Workload = Workload {
    name: "meet",
    pipeline: include_str!("../../pipelines/meet.yaml"),
    streams: &[
        Stream { name: "meet-offers", partitions: 1, make: sides },
        Stream { name: "meet-orders", partitions: 1, make: |seed, _| sides(seed, 2) },
    ],
    outputs: &[
        Output::Results { stream: "meet-pairs", key: &["ad"], in_order: false },
        Output::Late("meet-late"),
        Output::Dead("meet-dead"),
    ],
    left_out: &["watermark"],
    counts: &["accepted", "rejected", "emitted"],
};

const PROCESSOR: Workload = Workload {
    name: "processor",
    pipeline: include_str!("../../pipelines/processor.yaml"),
    streams: &[Stream { name: "processor-numbers", partitions: 1, make: |seed, _| lines(seed, ROUGH, number) }],
    outputs: &[
        Output::Results { stream: "processor-rows", key: &["k"], in_order: true },
        Output::Dead("processor-dead"),
    ],
    left_out: &[],
    counts: &["accepted", "rejected", "emitted"],
};

const FOREVER: Workload = Workload {
    name: "forever",
    pipeline: include_str!("../../pipelines/forever.yaml"),
    streams: &[Stream { name: "forever-visits", partitions: 1, make: rough_visits }],
    outputs: &[
        Output::Results { stream: "forever-panes", key: &["user", "page"], in_order: true },
        Output::Dead("forever-dead"),
    ],
    left_out: &[],
    counts: &["accepted", "rejected"],
};

const TRADING: Workload = Workload {
    name: "trading",
    pipeline: include_str!("../../pipelines/trading.yaml"),
    streams: &[Stream { name: "trading-trades", partitions: 1, make: |_, _| trades() }],
    outputs: &[Output::Table("trading_sessions"), Output::Late("trading-late"), Output::Dead("trading-dead")],
    left_out: &[],
    counts: &["accepted", "too_late", "duplicate", "rejected"],
};

fn rough_visits(seed: u64, partition: u64) -> Vec<String> {
    lines(seed, ROUGH, |chance, number, time| visit(chance, number, time, partition))
}

fn sides(seed: u64, which: u64) -> Vec<String> {
    lines(seed, PAIRED, |chance, number, time| side(chance, number, time, &format!("s{which}")))
}

/// The example's own trades.
fn trades() -> Vec<String> {
    let text = include_str!("../../../../guest-examples/trading-sessions-rust/data/trades.ndjson");
    text.lines().map(str::to_owned).collect()
}
