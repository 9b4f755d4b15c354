//! Beside attackers an honest tenant's answers and costs stay what they are alone. Alone in its process, because it measures
//! the process's memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidegate_isolation::guest;
use tidegate_isolation::host::{fields, load, mapper, options, rows, sandbox, values};
use tidegate_isolation::mapper::{identity, process};
use tidegate_isolation::measure::{cpu_time, resident_bytes};
use tidegate_types::hooks::Call;

#[test]
fn an_honest_neighbour_is_not_disturbed() {
    let sandbox = sandbox();
    let honest = |calls: usize| {
        let mut hook = mapper(&sandbox, &identity());
        let mut times: Vec<Duration> = Vec::with_capacity(calls);
        let mut answers = Vec::new();
        for call in 0..calls {
            let started = cpu_time();
            let answer =
                hook.process(Call::USUAL, &rows(i64::try_from(call).expect("it fits"), 256)).expect("it succeeds");
            times.push(cpu_time() - started);
            answers.push((values(&answer.value.columns), answer.fuel_used));
        }
        times.sort_unstable();
        (times[calls * 99 / 100], answers)
    };
    let alone = honest(300);
    let attackers = [
        process("(loop $forever (br $forever))"),
        process("(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable"),
        "(func $deep (param i32) (call $deep (i32.add (local.get 0) (i32.const 1))))".to_owned()
            + &process("(call $deep (i32.const 0))"),
    ];
    let before = resident_bytes();
    std::thread::scope(|scope| {
        let stop = Arc::new(AtomicBool::new(false));
        for attacker in &attackers {
            let (stop, sandbox) = (Arc::clone(&stop), sandbox.clone());
            scope.spawn(move || {
                let component = load(&sandbox, &guest("with-mapper", attacker));
                let mut hook = component.open_mapper("null", &fields(), options()).expect("the hook opens");
                while !stop.load(Ordering::Relaxed) {
                    assert!(hook.process(Call::USUAL, &rows(0, 10)).is_err());
                }
            });
        }
        let beside = honest(300);
        stop.store(true, Ordering::Relaxed);
        assert!(beside.1 == alone.1, "the honest tenant's answers and fuel are the same");
        println!("p99 of CPU time for a call: {:?} alone, {:?} beside three attackers", alone.0, beside.0);
    });
    let grown = resident_bytes().saturating_sub(before);
    let quota = sandbox.config().memory_bytes;
    assert!(grown < quota + 16 * 1024 * 1024, "{grown} bytes more");
    assert_eq!(sandbox.memory_used(), 0);
}
