#!/usr/bin/env bash
# What checkpoints and restores of a large state cost, below the operators: prints a table.
#
#   tests/bench/state.sh           5 million entries of 200 bytes; some 5 GB of disk
#
# ENTRIES, CHECKPOINTS, EVERY_MS and FOLDER (the disk) change the run. The build is that of the tests, with optimised
# dependencies: RocksDB's code is what it is in a release.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
uptime
cargo test --workspace --test state_measure -- --ignored --nocapture
uptime
