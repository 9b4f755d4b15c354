//! What an instruction costs in fuel: about what it takes in time, where a unit is the time of a plain instruction (0.1 ns).
//!
//! Fuel is the only clock that may condemn a record, so it should follow time also for code that is written to cheat it: a
//! turn of an empty loop takes as long as six additions, and a bulk operation of no bytes as long as a thousand. What a load takes
//! depends on the cache and cannot be priced; the wall-clock backstop is for that. Prices are part of every verdict: changing
//! one is a change of the sandbox's version.

use wasmtime::{OperatorCost, Result, StoreContextMut, Trap};

use crate::instance::HostState;

/// A jump, taken or not, with the checks of fuel and epoch that a loop makes at its head.
const JUMP: u8 = 6;
/// A call of a function: entry, exit, and their checks.
const CALL: u8 = 10;
/// A call through a table, with the check of its type.
const CALL_INDIRECT: u8 = 16;
/// A division: 20 to 40 cycles of latency on older machines.
const DIVIDE: u8 = 12;
/// A square root.
const ROOT: u8 = 40;
/// A copy within memory: 13 ns even of one byte, and 1 unit a byte besides.
const COPY: u8 = 120;
/// Another operation that leaves the code for the runtime, whatever it does there: up to 150 ns, and 1 unit a byte besides.
const RUNTIME: u8 = u8::MAX;
/// Growth of a memory or a table, granted or refused.
const GROW: u8 = 200;

/// The prices.
pub(crate) fn operator_cost() -> OperatorCost {
    let mut cost = OperatorCost::new();
    for jump in [&mut cost.Br, &mut cost.BrIf, &mut cost.BrTable, &mut cost.If] {
        *jump = JUMP;
    }
    cost.Call = CALL;
    cost.CallIndirect = CALL_INDIRECT;
    let divide = [
        &mut cost.I32DivS,
        &mut cost.I32DivU,
        &mut cost.I32RemS,
        &mut cost.I32RemU,
        &mut cost.I64DivS,
        &mut cost.I64DivU,
        &mut cost.I64RemS,
        &mut cost.I64RemU,
        &mut cost.F32Div,
        &mut cost.F64Div,
        &mut cost.F32x4Div,
        &mut cost.F64x2Div,
    ];
    for price in divide {
        *price = DIVIDE;
    }
    for root in [&mut cost.F32Sqrt, &mut cost.F64Sqrt, &mut cost.F32x4Sqrt, &mut cost.F64x2Sqrt] {
        *root = ROOT;
    }
    cost.MemoryCopy = COPY;
    let runtime = [
        &mut cost.MemoryFill,
        &mut cost.MemoryInit,
        &mut cost.TableFill,
        &mut cost.TableCopy,
        &mut cost.TableInit,
        &mut cost.DataDrop,
        &mut cost.ElemDrop,
        &mut cost.RefFunc,
    ];
    for price in runtime {
        *price = RUNTIME;
    }
    cost.MemoryGrow = GROW;
    cost.TableGrow = GROW;
    cost
}

/// Takes fuel for what the host does in a call of an import. Without enough of it the call ends as out of fuel.
pub(crate) fn charge(store: &mut StoreContextMut<'_, HostState>, fuel: u64) -> Result<()> {
    match store.get_fuel()?.checked_sub(fuel) {
        Some(left) => store.set_fuel(left),
        None => {
            store.set_fuel(0)?;
            Err(Trap::OutOfFuel.into())
        }
    }
}
