//! Row 4: what takes much memory to compile ends in the child. Alone in its process, because it measures the process's memory.

use tidegate_isolation::admit::{FUEL, MEMORY, admitter, candidate, refusal};
use tidegate_isolation::bomb::large;
use tidegate_isolation::measure::resident_bytes;

#[test]
fn a_component_that_takes_too_much_memory_to_compile_is_refused() {
    let (admitter, bomb) = (admitter(), large());
    let before = resident_bytes();
    let refusal = refusal(admitter.admit(&candidate(&bomb, FUEL, MEMORY)));
    let grown = resident_bytes().saturating_sub(before);
    assert_eq!((refusal.rule, refusal.place.as_str()), ("compile-limit", "component"), "{refusal}");
    assert!(refusal.reason.contains("memory") && refusal.mend.contains("split"), "{refusal}");
    assert!(grown < 16 << 20, "{grown} bytes more in the host");
}
