#!/bin/sh
# Builds every guest of this repository into $CARGO_TARGET_DIR/guests/NAME.wasm (default ~/.cache/tidegate/target).
#
# Incremental, and quick when nothing changed: cargo decides what to compile, and a component is made again only where its
# module is not the one that it was made of (kept in guests/.sources; two clones share these folders, so age says nothing). Guests have a cargo target folder of their own ($TIDEGATE_GUEST_TARGET_DIR, default
# ~/.cache/tidegate/guests), so that they do not wait for the lock of the other one. Set up first: .ci/setup-guests.sh.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
host_target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
guest_target=${TIDEGATE_GUEST_TARGET_DIR:-$HOME/.cache/tidegate/guests}
out=$host_target/guests
tool=$host_target/debug/componentize
triple=wasm32-unknown-unknown
mkdir -p "$out/.sources"

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

# Built only when a component has to be made: its folder's lock is often busy.
if [ ! -x "$tool" ] || [ -n "$(find "$root/sdk/componentize" -newer "$tool" -name '*.rs')" ]; then
    rm -f "$out"/.sources/*
    tool_is_stale=yes
fi

componentize() {
    if [ "${tool_is_stale:-no}" = yes ]; then
        (cd "$root" && CARGO_TARGET_DIR=$host_target cargo build -q -p tidegate-componentize --features wat)
        touch "$tool"
        tool_is_stale=no
    fi
    "$tool" "$@"
}

build_workspace() {
    (cd "$1" && guest_cargo build -q --release --locked --target "$triple")
}

component_of_module() {
    if [ ! -f "$out/$2.wasm" ] || ! cmp -s "$modules/$1.wasm" "$out/.sources/$2"; then
        componentize "$modules/$1.wasm" "$out/$2.wasm"
        cp "$modules/$1.wasm" "$out/.sources/$2"
    fi
}

component_of_text() {
    if [ ! -f "$out/$2.wasm" ] || ! cat "$1" "$root/wit/job.wit" | cmp -s - "$out/.sources/$2"; then
        componentize "$1" "$out/$2.wasm" "$root/wit" with-mapper
        cat "$1" "$root/wit/job.wit" > "$out/.sources/$2"
    fi
}

build_workspace "$root/tests/guests"
for name in identity campaign evil scripted-processor; do
    component_of_module "tidegate_guest_$(printf %s "$name" | tr - _)" "$name"
done

for folder in "$root"/guest-examples/*-rust; do
    [ -f "$folder/Cargo.toml" ] || continue
    build_workspace "$folder"
    name=$(basename "$folder" -rust)
    component_of_module "$(printf %s "$name" | tr - _)" "$name"
done

for text in "$root"/tests/guests/wat/*.wat; do
    component_of_text "$text" "$(basename "$text" .wat)"
done
