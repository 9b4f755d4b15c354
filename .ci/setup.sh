#!/usr/bin/env bash
# Installs what building Tidegate needs on a bare Debian 12 with rustup's Rust, where it is missing. Silent, and well under
# a second, when all is there.
#
# Three things: C and C++ compilers that link (RocksDB and SQLite are compiled from source, and rustc links through cc),
# libclang (it reads RocksDB's C header while that is built), and the Rust toolchain that rust-toolchain.toml names. Guests
# have a script of their own: setup-guests.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

PACKAGES="gcc g++ libc6-dev libclang-dev"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

links() { printf 'int main(void) { return 0; }\n' | cc -x c -o /dev/null - >/dev/null 2>&1; }
links_cxx() { printf '#include <mutex>\nint main() { return 0; }\n' | c++ -x c++ -o /dev/null - >/dev/null 2>&1; }

# Both parts of it: the shared object, and the headers of the compiler (stddef.h and its kind) that it brings along.
has_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then return; fi
    compgen -G '/usr/lib/llvm-*/lib/clang/*/include/stddef.h' >/dev/null &&
        compgen -G '/usr/lib/*/libclang-[0-9]*.so*' >/dev/null && return
    compgen -G '/usr/lib*/libclang.so*' >/dev/null
}

has_compilers() { links && links_cxx && has_libclang; }

ensure_compiler() {
    if has_compilers; then return; fi
    if ! command -v apt-get >/dev/null 2>&1; then
        fail "a C or C++ compiler that links, or libclang, was not found. Install them (Debian calls the packages: $PACKAGES) and run this again"
    fi
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            fail "a C or C++ compiler or libclang is missing and installing it needs root. Run as root: apt-get update && apt-get install $PACKAGES"
        sudo=(sudo)
    fi
    say "installing $PACKAGES with apt-get"
    "${sudo[@]}" apt-get update -qq >&2 || say "apt-get update failed; trying with the lists that are here"
    # shellcheck disable=SC2086 # a list of words
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES >&2
    links || fail "cc still does not link a program; see: echo 'int main(void){return 0;}' | cc -x c -"
    links_cxx || fail "c++ still does not link a program; see: echo '#include <mutex>' | c++ -x c++ -c -o /dev/null -"
    has_libclang || fail "libclang is still missing; set LIBCLANG_PATH to the folder that has libclang.so"
}

# The channel of rust-toolchain.toml.
pinned() { sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml; }

has_rust() { cargo --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; }

ensure_rust() {
    if has_rust; then return; fi
    command -v rustup >/dev/null 2>&1 || {
        cargo --version >/dev/null 2>&1 || fail "cargo was not found. Install Rust with rustup (https://rustup.rs) and run this again"
        fail "cargo is here, but not rustfmt or clippy: install them beside it, or use rustup"
    }
    local version
    version=$(pinned)
    say "installing Rust $version with rustup"
    if rustup toolchain install "$version" --profile minimal --component clippy,rustfmt >&2 && has_rust; then return; fi
    # Without a way to rustup's server, an installed toolchain of the same version serves as well.
    local other
    for other in $(rustup toolchain list | cut -d' ' -f1); do
        if [ "$(rustup run "$other" rustc --version 2>/dev/null | cut -d' ' -f2)" = "$version" ]; then
            say "rustup could not install it; using $other, the same version, in this folder (rustup override)"
            rustup override set "$other" >&2
            if has_rust; then return; fi
        fi
    done
    fail "Rust $version with clippy and rustfmt is missing. With network: rustup toolchain install $version -c clippy,rustfmt"
}

# Cargo tells clones that share a target folder apart by their files' times alone: it would take another clone's newer
# build for this one's. Whoever built last leaves a note, and a change of clone makes everything of ours look new.
note_clone() {
    local target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
    local note=$target/last-clone
    if [ "$(cat "$note" 2>/dev/null)" = "$PWD" ]; then return; fi
    find . \( -name target -o -name .git \) -prune -o -type f -exec touch {} +
    mkdir -p "$target"
    printf '%s\n' "$PWD" >"$note"
}

ensure_compiler
ensure_rust
note_clone
