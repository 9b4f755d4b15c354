#!/bin/sh
# Builds every guest of this repository into $CARGO_TARGET_DIR/guests/NAME.wasm (default ~/.cache/tidegate/target).
#
# Incremental, and quick when nothing changed: cargo decides what to compile, and a component is made again only where it is
# older than its module. Guests have a cargo target folder of their own ($TIDEGATE_GUEST_TARGET_DIR, default
# ~/.cache/tidegate/guests), so that they do not wait for the lock of the other one. Set up first: .ci/setup-guests.sh.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
host_target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
guest_target=${TIDEGATE_GUEST_TARGET_DIR:-$HOME/.cache/tidegate/guests}
out=$host_target/guests
tool=$host_target/debug/componentize
triple=wasm32-unknown-unknown
mkdir -p "$out"

# rustup's target where it is installed; else Debian's rustc with the standard library from rust-web-src.
if [ "${TIDEGATE_GUEST_TOOLCHAIN:-any}" != debian ] && [ -d "$(cd "$root" && rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    guest_cargo() { CARGO_TARGET_DIR=$guest_target cargo "$@"; }
else
    guest_target=$guest_target-debian
    guest_cargo() {
        CARGO_TARGET_DIR=$guest_target RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
            CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=-Clinker=/usr/bin/wasm-ld \
            /usr/bin/cargo "$@" -Zbuild-std=std,panic_abort
    }
fi
modules=$guest_target/$triple/release

# Built only when a component has to be made, and rebuilt only when its source changed: its folder's lock is often busy.
componentize() {
    if [ ! -x "$tool" ] || [ -n "$(find "$root/sdk/componentize" -newer "$tool" -name '*.rs')" ]; then
        (cd "$root" && CARGO_TARGET_DIR=$host_target cargo build -q -p tidegate-componentize --features wat)
        touch "$tool"
    fi
    "$tool" "$@"
}

build_workspace() {
    (cd "$1" && guest_cargo build -q --release --locked --target "$triple")
}

component_of_module() {
    if [ ! "$out/$2.wasm" -nt "$modules/$1.wasm" ]; then
        componentize "$modules/$1.wasm" "$out/$2.wasm"
    fi
}

build_workspace "$root/tests/guests"
for name in identity campaign evil; do
    component_of_module "tidegate_guest_$name" "$name"
done

for folder in "$root"/guest-examples/*-rust; do
    [ -f "$folder/Cargo.toml" ] || continue
    build_workspace "$folder"
    name=$(basename "$folder" -rust)
    component_of_module "$(printf %s "$name" | tr - _)" "$name"
done

for text in "$root"/tests/guests/wat/*.wat; do
    name=$(basename "$text" .wat)
    if [ ! "$out/$name.wasm" -nt "$text" ] || [ ! "$out/$name.wasm" -nt "$root/wit/job.wit" ]; then
        componentize "$text" "$out/$name.wasm" "$root/wit" with-mapper
    fi
done
