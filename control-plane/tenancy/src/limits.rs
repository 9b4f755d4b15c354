//! What a tenant may use: every limit with its unit, default, hard bounds and reason, in this one place.
//!
//! Invariant: a `TenantLimits` that passed `check` lies within the hard bounds of every row of `LIMITS`, so that nobody, by
//! mistake or with a stolen token, sets a limit that endangers the platform. All sums over limits saturate; none wraps.

use serde::{Deserialize, Serialize};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// The limits of one tenant. In JSON, what is left out has its default, and an unknown name is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TenantLimits {
    /// Fuel of one call of a hook. One unit is about one plain WebAssembly instruction; 80 million take about 10 ms.
    pub call_fuel: u64,
    /// Bytes of all memories of all instances of the tenant's hooks together.
    pub memory_bytes: u64,
    /// Threads that step the tenant's jobs: its share of the machine's processors.
    pub lanes: u32,
    /// Jobs that are submitted or run at once.
    pub jobs: u32,
    /// Streams.
    pub streams: u32,
    /// Partitions of one stream.
    pub partitions: u32,
    /// Versions of all artifacts together, revoked ones too.
    pub artifacts: u32,
    /// Bytes of one artifact's component.
    pub artifact_bytes: u64,
    /// Bytes of the records that are kept in all streams together.
    pub log_bytes: u64,
    /// Bytes of one append request.
    pub append_bytes: u64,
    /// Bytes of one record.
    pub record_bytes: u32,
}

/// One row of the table of limits.
#[derive(Debug, Clone, Copy)]
pub struct LimitRule {
    /// The limit's name in the API and in documents.
    pub name: &'static str,
    /// Its unit, for people.
    pub unit: &'static str,
    /// The least allowed value.
    pub min: u64,
    /// The greatest allowed value.
    pub max: u64,
    /// Why the default and the bounds are as they are.
    pub why: &'static str,
    /// Reads it.
    pub get: fn(&TenantLimits) -> u64,
}

/// Every limit. `TenantLimits::default` lies within these bounds.
pub const LIMITS: [LimitRule; 11] = [
    LimitRule {
        name: "call_fuel",
        unit: "fuel",
        min: 1_000_000,
        // Code that misses the cache on every load takes 1.5 s for 80 million: at this bound it stays below the sandbox's
        // backstop of 10 s, so that fuel remains the only judge.
        max: 500_000_000,
        why: "the sandbox's own: 10 ms of guest code, long for a batch and short for a neighbour; the bound keeps the slowest \
              code below the wall-clock backstop",
        get: |limits| limits.call_fuel,
    },
    LimitRule {
        name: "memory_bytes",
        unit: "bytes",
        min: 16 * MIB,
        max: 64 * GIB,
        why: "four instances at the sandbox's 128 MiB each: one job with two hooks on two lanes, in any language",
        get: |limits| limits.memory_bytes,
    },
    LimitRule {
        name: "lanes",
        unit: "threads",
        min: 1,
        max: 64,
        why: "two let a job overlap reading and hooks, and leave a small machine to others",
        get: |limits| u64::from(limits.lanes),
    },
    LimitRule {
        name: "jobs",
        unit: "jobs",
        min: 1,
        max: 1_000,
        why: "a small team's; each job holds instances and state even when idle",
        get: |limits| u64::from(limits.jobs),
    },
    LimitRule {
        name: "streams",
        unit: "streams",
        min: 1,
        max: 1_000,
        why: "in, out and side streams of ten jobs",
        get: |limits| u64::from(limits.streams),
    },
    LimitRule {
        name: "partitions",
        unit: "partitions a stream",
        min: 1,
        max: 256,
        why: "eight for each of the two lanes; more add idle watermarks and no speed",
        get: |limits| u64::from(limits.partitions),
    },
    LimitRule {
        name: "artifacts",
        unit: "versions",
        min: 1,
        max: 10_000,
        why: "a release a week of two artifacts for a year",
        get: |limits| u64::from(limits.artifacts),
    },
    LimitRule {
        name: "artifact_bytes",
        unit: "bytes",
        min: 64 * KIB,
        max: 64 * MIB,
        why: "what the sandbox's scan takes: Python components have 19 MiB",
        get: |limits| limits.artifact_bytes,
    },
    LimitRule {
        name: "log_bytes",
        unit: "bytes",
        min: MIB,
        max: 16 * 1024 * GIB,
        why: "some 50 million records of 200 bytes; the disk is shared",
        get: |limits| limits.log_bytes,
    },
    LimitRule {
        name: "append_bytes",
        unit: "bytes a request",
        min: KIB,
        max: 64 * MIB,
        why: "40,000 records of 200 bytes a request; a request is held in memory until it is durable",
        get: |limits| limits.append_bytes,
    },
    LimitRule {
        name: "record_bytes",
        unit: "bytes",
        min: KIB,
        max: 16 * MIB,
        why: "far above any event; a hook's arguments hold whole batches of them",
        get: |limits| u64::from(limits.record_bytes),
    },
];

impl Default for TenantLimits {
    fn default() -> Self {
        Self {
            call_fuel: 80_000_000,
            memory_bytes: 512 * MIB,
            lanes: 2,
            jobs: 10,
            streams: 30,
            partitions: 16,
            artifacts: 100,
            artifact_bytes: 24 * MIB,
            log_bytes: 10 * GIB,
            append_bytes: 8 * MIB,
            record_bytes: 1024 * 1024,
        }
    }
}

/// Why limits can not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// A limit is outside its hard bounds.
    #[error("limit {name}: {value} is not allowed: set {min} to {max} {unit}")]
    OutOfBounds {
        /// The limit.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The greatest allowed.
        max: u64,
        /// Its unit.
        unit: &'static str,
    },
    /// A limit that another one can never let through.
    #[error("limit {name}: {value} is more than {other} ({bound}), which it has to pass: lower it or raise {other}")]
    Unreachable {
        /// The limit.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// The limit that it has to pass.
        other: &'static str,
        /// That limit's value.
        bound: u64,
    },
}

/// What goes beyond a limit of the tenant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("limit {limit}: {used} of {allowed} {unit} are used, {asked} more are too many: {mend}")]
pub struct QuotaExceeded {
    /// The limit's name.
    pub limit: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What is allowed.
    pub allowed: u64,
    /// What is used already.
    pub used: u64,
    /// What was asked for besides.
    pub asked: u64,
    /// What to do.
    pub mend: &'static str,
}

impl TenantLimits {
    /// Whether all lie within their hard bounds and fit each other.
    ///
    /// # Errors
    /// [`LimitError`] with the first that does not.
    pub fn check(&self) -> Result<(), LimitError> {
        for rule in &LIMITS {
            let value = (rule.get)(self);
            if !(rule.min..=rule.max).contains(&value) {
                let LimitRule { name, unit, min, max, .. } = *rule;
                return Err(LimitError::OutOfBounds { name, value, min, max, unit });
            }
        }
        fits("record_bytes", u64::from(self.record_bytes), "append_bytes", self.append_bytes)?;
        fits("append_bytes", self.append_bytes, "log_bytes", self.log_bytes)
    }

    /// Whether `asked` more fit beside what is `used`, by the limit of this name. The sum saturates.
    ///
    /// # Errors
    /// [`QuotaExceeded`].
    ///
    /// # Panics
    /// If there is no limit of this name; names are the constants of the caller's code.
    pub fn room(&self, limit: &'static str, used: u64, asked: u64) -> Result<(), QuotaExceeded> {
        let rule = LIMITS.iter().find(|rule| rule.name == limit).expect("the name of a limit is a row of LIMITS");
        let allowed = (rule.get)(self);
        if used.saturating_add(asked) <= allowed {
            return Ok(());
        }
        let mend = if used == 0 { "ask for less, or ask a platform admin to raise the limit" } else { FREE_SOME };
        Err(QuotaExceeded { limit, unit: rule.unit, allowed, used, asked, mend })
    }
}

const FREE_SOME: &str = "give some back, or ask a platform admin to raise the limit";

fn fits(name: &'static str, value: u64, other: &'static str, bound: u64) -> Result<(), LimitError> {
    if value > bound { Err(LimitError::Unreachable { name, value, other, bound }) } else { Ok(()) }
}

/// A change of some limits: what is none stays as it is. In JSON, an unknown name is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsChange {
    /// See [`TenantLimits::call_fuel`].
    pub call_fuel: Option<u64>,
    /// See [`TenantLimits::memory_bytes`].
    pub memory_bytes: Option<u64>,
    /// See [`TenantLimits::lanes`].
    pub lanes: Option<u32>,
    /// See [`TenantLimits::jobs`].
    pub jobs: Option<u32>,
    /// See [`TenantLimits::streams`].
    pub streams: Option<u32>,
    /// See [`TenantLimits::partitions`].
    pub partitions: Option<u32>,
    /// See [`TenantLimits::artifacts`].
    pub artifacts: Option<u32>,
    /// See [`TenantLimits::artifact_bytes`].
    pub artifact_bytes: Option<u64>,
    /// See [`TenantLimits::log_bytes`].
    pub log_bytes: Option<u64>,
    /// See [`TenantLimits::append_bytes`].
    pub append_bytes: Option<u64>,
    /// See [`TenantLimits::record_bytes`].
    pub record_bytes: Option<u32>,
}

impl LimitsChange {
    /// The limits after this change, unchecked.
    #[must_use]
    pub fn apply(&self, to: &TenantLimits) -> TenantLimits {
        TenantLimits {
            call_fuel: self.call_fuel.unwrap_or(to.call_fuel),
            memory_bytes: self.memory_bytes.unwrap_or(to.memory_bytes),
            lanes: self.lanes.unwrap_or(to.lanes),
            jobs: self.jobs.unwrap_or(to.jobs),
            streams: self.streams.unwrap_or(to.streams),
            partitions: self.partitions.unwrap_or(to.partitions),
            artifacts: self.artifacts.unwrap_or(to.artifacts),
            artifact_bytes: self.artifact_bytes.unwrap_or(to.artifact_bytes),
            log_bytes: self.log_bytes.unwrap_or(to.log_bytes),
            append_bytes: self.append_bytes.unwrap_or(to.append_bytes),
            record_bytes: self.record_bytes.unwrap_or(to.record_bytes),
        }
    }
}

#[cfg(test)]
mod tests;
