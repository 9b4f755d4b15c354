#!/bin/sh
# Installs what building Rust guests for WebAssembly needs, where it is missing. Idempotent; under a second when all is there.
#
# 1. `rustup target add wasm32-unknown-unknown`, where rustup can reach its server: the ordinary way, 30 MB.
# 2. Otherwise Debian's own rustc-web, cargo-web, rust-web-src and lld (0.8 GB): `tidegate build` and .ci/build-guests.sh
#    then build the standard library from rust-web-src once.
#
# TIDEGATE_GUEST_TOOLCHAIN=debian or rustup chooses one; the default tries them in this order.
set -eu
cd "$(dirname "$0")/.." # rust-toolchain.toml says which toolchain gets the target

TARGET=wasm32-unknown-unknown
PACKAGES="rustc-web cargo-web rust-web-src lld"
want=${TIDEGATE_GUEST_TOOLCHAIN:-any}

say() { printf 'setup-guests: %s\n' "$*" >&2; }

# Asked of the file system: `rustup target list` takes longer and may go to the network.
have_rustup_target() {
    command -v rustc >/dev/null 2>&1 && [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$TARGET/lib" ]
}

have_debian() {
    [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -x /usr/bin/wasm-ld ] || return 1
    [ -f "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml" ]
}

add_rustup_target() {
    command -v rustup >/dev/null 2>&1 || return 1
    say "adding $TARGET with rustup"
    if command -v timeout >/dev/null 2>&1; then
        timeout 120 rustup target add "$TARGET" >&2
    else
        rustup target add "$TARGET" >&2
    fi
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

add_debian() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
        say "need root (or sudo) for: apt-get install $PACKAGES"
        return 1
    fi
    say "installing $PACKAGES with apt-get (about 0.8 GB)"
    as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the lists that are here"
    # shellcheck disable=SC2086 # a list of words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES >&2
}

case $want in
    any) if have_rustup_target || have_debian; then exit 0; fi ;;
    rustup) if have_rustup_target; then exit 0; fi ;;
    debian) if have_debian; then exit 0; fi ;;
    *) say "TIDEGATE_GUEST_TOOLCHAIN is '$want'; use rustup, debian or leave it unset"; exit 2 ;;
esac

if [ "$want" != debian ] && add_rustup_target && have_rustup_target; then
    say "ready: rustup's $TARGET"
    exit 0
fi
if [ "$want" != rustup ] && { [ "$want" = debian ] || say "rustup cannot add $TARGET here; falling back to Debian's packages"; } \
    && add_debian && have_debian; then
    say "ready: Debian's $(/usr/bin/rustc --version)"
    exit 0
fi

say "no way to build guests here. Either run 'rustup target add $TARGET' with network, or, on Debian 12, 'apt-get install $PACKAGES'"
exit 1
