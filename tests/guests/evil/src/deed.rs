//! Deeds that can be done in any function.

use std::hint::black_box;

use tidegate_sdk::{Fault, log};

use crate::config::Evil;

const PAGE: usize = 64 * 1024;

/// Does the deed. Those that bend a result only return, and so do the log's: the answer is the caller's.
pub(crate) fn commit(evil: Evil) -> Result<(), Fault> {
    match evil {
        Evil::Loop => spin(),
        Evil::Memory => {
            exhaust_memory();
            spin()
        }
        Evil::MemoryTrap => {
            exhaust_memory();
            trap()
        }
        Evil::Fill => fill(),
        Evil::Recurse => {
            black_box(recurse(1));
        }
        Evil::Trap => trap(),
        Evil::Panic => panic!("evil panic"),
        Evil::Fault => return Err(Fault::new("evil fault")),
        Evil::LogFlood => (0..1_000_000).for_each(|i| log::error(&format!("evil \u{1b}[2J\r\n line {i}\0"))),
        // Past the SDK's own function, which cuts its messages.
        Evil::LogHuge => {
            use tidegate_sdk::bindings::mapper::tidegate::job::log as abi;
            abi::write(abi::Level::Error, &"evil ".repeat(16 * 1024 * 1024 / 5));
        }
        Evil::Spend => {
            black_box((0..3_000_000_u64).fold(0, |sum, turn| black_box(sum ^ turn)));
        }
        _ => {}
    }
    Ok(())
}

fn spin() -> ! {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn fill() -> ! {
    let mut memory = vec![0_u8; 8 * 1024 * 1024];
    let mut byte = 0_u8;
    loop {
        byte = byte.wrapping_add(1);
        memory.fill(byte);
        black_box(&memory);
    }
}

fn exhaust_memory() {
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut size = 16 * PAGE;
    while size >= PAGE {
        let mut block = Vec::new();
        if block.try_reserve_exact(size).is_ok() {
            block.resize(size, 0xEE);
            if held.try_reserve(1).is_err() {
                break;
            }
            held.push(block);
        } else {
            size /= 2;
        }
    }
    std::mem::forget(black_box(held));
}

/// Not a tail call, and with something on the stack at every level.
#[expect(unconditional_recursion, reason = "that is the deed")]
fn recurse(depth: u64) -> u64 {
    let ballast = black_box([depth; 16]);
    recurse(depth + 1).wrapping_add(ballast[3])
}

fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort()
}
