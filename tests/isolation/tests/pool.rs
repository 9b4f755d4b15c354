//! The pool of instances is every tenant's: a tenant that opens all that it can leaves room for its neighbours.

use std::sync::Arc;

use tidegate_isolation::host::{fields, load, options, rows, sandbox_with};
use tidegate_isolation::mapper::identity;
use tidegate_sandbox::{Component, MemoryTotal, OpenError, OpenOptions, TooManyHooks};
use tidegate_types::hooks::{Call, MapHook};

const MIB: usize = 1024 * 1024;

fn open(component: &Component, memory: &Arc<MemoryTotal>) -> Result<Box<dyn MapHook>, OpenError> {
    component.open_mapper("null", &fields(), OpenOptions { memory: Some(Arc::clone(memory)), ..options() })
}

/// Opens hooks until one is refused.
fn open_all(component: &Component, memory: &Arc<MemoryTotal>) -> (Vec<Box<dyn MapHook>>, OpenError) {
    let mut hooks = Vec::new();
    loop {
        match open(component, memory) {
            Ok(hook) => hooks.push(hook),
            Err(error) => return (hooks, error),
        }
    }
}

#[test]
fn a_tenant_that_opens_all_that_it_can_leaves_instances_for_its_neighbour() {
    let sandbox = sandbox_with(|config| (config.instances, config.tenant_hooks) = (8, 3));
    let component = load(&sandbox, &identity());
    let (attacker, neighbour) = (MemoryTotal::new(512 * MIB), MemoryTotal::new(512 * MIB));
    let (mut hooks, error) = open_all(&component, &attacker);
    assert_eq!((hooks.len(), attacker.hooks()), (3, 3));
    let refused = TooManyHooks { open: 3, asked: 1, limit: 3 };
    assert!(matches!(&error, OpenError::TooMany { refused: found, .. } if *found == refused), "{error}");
    let mut hook = open(&component, &neighbour).expect("the neighbour's hook opens");
    hook.process(Call::USUAL, &rows(0, 5)).expect("and runs");
    // What the tenant closes, it may open again; a fresh instance of an open hook is none more.
    hooks.truncate(2);
    hooks[0].process(Call::USUAL, &rows(0, 5)).expect("a call");
    hooks[0].process(Call::HALF, &rows(0, 5)).expect("a call in a fresh instance");
    assert_eq!(component.room_for(&attacker, 2), Err(TooManyHooks { open: 2, asked: 2, limit: 3 }));
    component.room_for(&attacker, 1).expect("one may be opened");
    hooks.push(open(&component, &attacker).expect("there is room again"));
    drop(hooks);
    assert_eq!(attacker.hooks(), 0);
}

#[test]
fn a_hook_that_does_not_open_keeps_no_place() {
    let sandbox = sandbox_with(|config| config.tenant_hooks = 1);
    let component = load(&sandbox, &identity());
    let tiny = MemoryTotal::new(1);
    for _ in 0..3 {
        let error = open(&component, &tiny).err().expect("no memory for it");
        assert!(matches!(&error, OpenError::Platform { .. }), "{error}");
    }
    assert_eq!(tiny.hooks(), 0);
}

#[test]
fn hooks_of_the_sandboxs_own_total_may_take_the_whole_pool() {
    let sandbox = sandbox_with(|config| (config.instances, config.tenant_hooks) = (4, 1));
    let component = load(&sandbox, &identity());
    let open = || component.open_mapper("null", &fields(), options());
    let hooks: Vec<_> = (0..4).map(|_| open().expect("there is room")).collect();
    assert!(matches!(open().err(), Some(OpenError::Platform { .. })), "the pool is empty");
    drop(hooks);
}
