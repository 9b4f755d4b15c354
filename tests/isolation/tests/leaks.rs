//! Row 22: an instance that failed leaves nothing behind. Alone in its process, because it measures the process's memory.

use tidegate_isolation::guest;
use tidegate_isolation::host::{guest_failure, mapper, rows, sandbox};
use tidegate_isolation::mapper::{IDENTITY, process};
use tidegate_isolation::measure::resident_bytes;
use tidegate_types::hooks::Call;

#[test]
fn a_component_that_was_poisoned_serves_the_next_call() {
    let sandbox = sandbox();
    let traps = "(if (i32.gt_u (i32.load offset=8 (local.get $columns)) (i32.const 5)) (then unreachable))";
    let mut hook = mapper(&sandbox, &guest("with-mapper", &process(&format!("{traps} {IDENTITY}"))));
    let before = resident_bytes();
    for _ in 0..1_000 {
        guest_failure(hook.process(Call::USUAL, &rows(0, 6)), "trap");
        hook.process(Call::USUAL, &rows(0, 5)).expect("five rows are fine");
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 16 * 1024 * 1024, "{grown} bytes more after 1,000 traps");
}
