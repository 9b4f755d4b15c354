//! Every limit of the sandbox, with its default and the reason for it, in this one place.
//!
//! Limits that may condemn a record (fuel, memory, tables, stack, answer size) are deterministic: the same call meets them
//! on every machine. The wall-clock backstop is not, and therefore only interrupts.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// How often the epoch moves, and so the resolution of the wall-clock backstop and of the log's rate.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The longest line of a guest's log, bytes. The rest of a longer one is cut.
pub(crate) const LOG_LINE_BYTES: usize = KIB;
/// Fuel for one line of log, besides one unit per byte: about what the host spends on it, at the rate of guest code.
pub(crate) const LOG_LINE_FUEL: u64 = 2_000;
/// Lines that a hook may write at once; more are dropped and counted.
pub(crate) const LOG_BURST_LINES: u64 = 200;
/// Ticks after which a hook may write one line more: 100 lines a second.
pub(crate) const LOG_TICKS_PER_LINE: u64 = 1;

/// Fuel for one call of a processor's state or timers: what leaving the guest and coming back takes.
pub(crate) const STATE_CALL_FUEL: u64 = 2_000;
/// Fuel for one entry of such a call, and for one row of its answer, besides one unit per byte: a look into ordered maps of
/// some hundred thousand keys, and a row taken apart or put together.
pub(crate) const STATE_ENTRY_FUEL: u64 = 1_000;
/// What an entry that is written measures besides its columns, bytes: about what an ordered map takes for it.
pub(crate) const STATE_ENTRY_BYTES: usize = 64;

/// States of a processor, and its timers.
pub(crate) const PLAN_STATES: usize = 32;

/// Fields that a plan may name in one place, and the bytes of a name: far above any real record, and small enough that a
/// plan is never a burden.
pub(crate) const PLAN_FIELDS: usize = 1_000;
/// See [`PLAN_FIELDS`].
pub(crate) const FIELD_NAME_BYTES: usize = 256;

/// The longest code of a rejection, bytes, and the longest message or fault; longer ones are cut.
pub(crate) const CODE_BYTES: usize = 64;
/// See [`CODE_BYTES`].
pub(crate) const MESSAGE_BYTES: usize = 2 * KIB;

/// The limits of one sandbox: of what it loads, of each instance and call, and of the pool that instances come from.
#[derive(Debug, Clone)]
pub struct SandboxConfig {
    /// Fuel of one call. One unit is about one plain WebAssembly instruction (see `price.rs`).
    pub call_fuel: u64,
    /// Fuel of one `open`, together with the instantiation before it.
    pub open_fuel: u64,
    /// Bytes of all memories of one instance together. Growth beyond it fails as `memory.grow` does: it returns -1.
    pub memory_bytes: usize,
    /// Bytes of all memories of all instances that share this sandbox's total. Growth beyond it is nobody's verdict: the
    /// call ends as a platform fault.
    pub total_memory_bytes: usize,
    /// Elements of all tables of one instance together.
    pub table_elements: usize,
    /// Memories of one instance.
    pub memories: u32,
    /// Tables of one instance.
    pub tables: u32,
    /// Core instances of one instance.
    pub core_instances: u32,
    /// Component-model handles that an instance may hold at once. The contract has none.
    pub handles: usize,
    /// What an answer may always measure, in bytes as the host holds it.
    pub answer_floor_bytes: usize,
    /// What an answer may measure for each byte of the call's arguments.
    pub answer_factor: usize,
    /// What no answer may exceed, bytes.
    pub answer_cap_bytes: usize,
    /// What a processor's call may be given by one function of its state, bytes.
    pub state_read_bytes: usize,
    /// What a processor's call may write of its state in all, bytes, each entry counting 64 besides. It is held until the run that the
    /// call is part of succeeds.
    pub state_write_bytes: usize,
    /// Stack of guest code, bytes. Threads that call hooks need 1 MiB more.
    pub stack_bytes: usize,
    /// Wall-clock time after which a call is interrupted.
    pub backstop: Duration,
    /// What a component may look like.
    pub scan: ScanLimits,
    /// Instances that may exist at once.
    pub instances: u32,
    /// Hooks that may be open at once with one total of their own, as a tenant's are: each takes one instance. Hooks that
    /// count against the sandbox's own total may take the whole pool.
    pub tenant_hooks: u32,
}

/// What a component may look like: checked over its bytes before anything is compiled.
#[derive(Debug, Clone)]
pub struct ScanLimits {
    /// The component's size, bytes.
    pub component_bytes: usize,
    /// Custom sections together (names, producers, debug information), bytes.
    pub custom_section_bytes: usize,
    /// How deep components, modules and their types may nest.
    pub depth: u32,
    /// Core modules.
    pub modules: u32,
    /// Nested components.
    pub components: u32,
    /// Instances of core modules.
    pub core_instances: u32,
    /// Instances of components, and those made of exports.
    pub instances: u32,
    /// Functions with a body.
    pub functions: u32,
    /// One function's body, bytes.
    pub body_bytes: usize,
    /// One function's locals.
    pub locals: u32,
    /// Entries of all type, import, export and canonical-function sections.
    pub entries: u32,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self {
            // About 10 ms of guest code: long against a batch (1,000 rows of a Rust hook that parses text take some 10 M),
            // short against what a neighbour may wait. A Python hook at 100,000 a row still gets hundreds of rows a call.
            call_fuel: 80_000_000,
            // Python and JavaScript set up their runtime in `open`.
            open_fuel: 1_000_000_000,
            // Rust and C need 1 or 2 MiB, Python 24, StarlingMonkey more than 64 (72 works).
            memory_bytes: 128 * MIB,
            total_memory_bytes: 1024 * MIB,
            // Python needs 5,700, StarlingMonkey 7,700.
            table_elements: 20_000,
            // QuickJS components have 2 or 3 memories and 3 tables.
            memories: 4,
            tables: 8,
            // Python links its libraries as core modules.
            core_instances: 64,
            handles: 256,
            // 1,000 rows of a map measure about 60 KiB.
            answer_floor_bytes: 256 * KIB,
            // A hook may well make several rows, or several columns, of one.
            answer_factor: 16,
            answer_cap_bytes: 8 * MIB,
            state_read_bytes: 8 * MIB,
            // 1,000 rows that each rewrite 4 KiB.
            state_write_bytes: 8 * MIB,
            // wasmtime's own default; a std thread has 2 MiB.
            stack_bytes: 512 * KIB,
            // Above what the fuel of a verdict takes on a busy machine, even in code that misses the cache on every load (1.5 s
            // of CPU).
            backstop: Duration::from_secs(10),
            scan: ScanLimits::default(),
            // Each reserves 6 GiB of address space per memory (of 128 TiB), and nothing until it is used.
            instances: 256,
            // An eighth of the pool, so that no tenant empties it: for instance a map hook in each of ten jobs and 22
            // subtasks with a hook.
            tenant_hooks: 32,
        }
    }
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self {
            // Rust and C are far below 1 MiB, QuickJS 1.7, StarlingMonkey 12.5, Python 19.
            component_bytes: 24 * MIB,
            // Function names of a large language runtime. Debug information is larger, and of no use here.
            custom_section_bytes: 2 * MIB,
            // What the language toolchains make nests 2 or 3 deep.
            depth: 4,
            modules: 64,
            components: 32,
            core_instances: 128,
            instances: 128,
            functions: 100_000,
            // The largest interpreters' main loops have some 100 KiB.
            body_bytes: MIB,
            locals: 20_000,
            entries: 100_000,
        }
    }
}

impl SandboxConfig {
    /// The backstop in ticks, at least one.
    pub(crate) fn backstop_ticks(&self) -> u64 {
        let ticks = self.backstop.as_millis() / TICK.as_millis();
        u64::try_from(ticks).unwrap_or(u64::MAX / 2).max(1)
    }

    /// The backstop in milliseconds.
    pub(crate) fn backstop_millis(&self) -> u64 {
        u64::try_from(self.backstop.as_millis()).unwrap_or(u64::MAX)
    }

    /// How many bytes the host lifts out of a call with arguments of this size.
    pub(crate) fn answer_bytes(&self, input_bytes: usize) -> usize {
        self.answer_floor_bytes.max(input_bytes.saturating_mul(self.answer_factor)).min(self.answer_cap_bytes)
    }
}
