//! Measures that other processes on the machine do not disturb.

use std::time::Duration;

/// How long this thread has been on a CPU.
///
/// # Panics
/// Where there is no Linux `/proc`.
#[must_use]
pub fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells a thread's time");
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok()).expect("its first field is a number");
    Duration::from_nanos(nanos)
}

/// The process's resident memory, bytes.
///
/// # Panics
/// Where there is no Linux `/proc`.
#[must_use]
pub fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells a process's memory");
    let pages: usize =
        text.split(' ').nth(1).and_then(|field| field.parse().ok()).expect("its second field is a number");
    pages * 4096
}
