//! Map hooks: what crosses the border comes back unchanged.

use tidegate_isolation::host::{fields, load, mapper, options, rows, sandbox, values};
use tidegate_isolation::mapper::identity;
use tidegate_types::hooks::Call;

#[test]
fn an_identity_map_gives_back_its_input() {
    let sandbox = sandbox();
    let mut hook = mapper(&sandbox, &identity());
    assert_eq!(hook.plan().output, fields());
    assert_eq!(hook.plan().reads.columns, fields());
    assert!(hook.plan().reads.times);
    for count in [1, 2, 7, 1_000] {
        let input = rows(0, count);
        let answer = hook.process(Call::USUAL, &input).expect("the call succeeds");
        assert_eq!(values(&answer.value.columns), values(&input.columns));
        assert_eq!(answer.value.len, count);
        assert!(answer.value.times.is_none() && answer.value.sources.is_none() && answer.value.rejected.is_empty());
        assert!(answer.fuel_used > 0);
    }
}

#[test]
fn the_same_call_costs_the_same_fuel() {
    let sandbox = sandbox();
    let component = load(&sandbox, &identity());
    let costs = |_| {
        let mut hook = component.open_mapper("null", &fields(), options()).expect("the hook opens");
        [7, 100].map(|count| hook.process(Call::HALF, &rows(0, count)).expect("the call succeeds").fuel_used)
    };
    let all: Vec<[u64; 2]> = (0..3).map(costs).collect();
    assert!(all.iter().all(|costs| *costs == all[0]), "{all:?}");
}
