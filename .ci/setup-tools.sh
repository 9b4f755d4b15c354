#!/usr/bin/env bash
# Installs the two tools that `make check` needs beside cargo: cargo-deny and typos. Idempotent; silent when both are there.
#
# They come from crates.io at a fixed version with the lock file of their authors, into a folder of their own outside the
# clone, and are built without heavy optimisation: building takes longer than everything they ever do.
set -euo pipefail

DENY=0.20.2
TYPOS=1.52.0
root=${TIDEGATE_TOOLS:-$HOME/.cache/tidegate/tools}

say() { printf 'setup-tools: %s\n' "$*" >&2; }

# ensure CRATE VERSION BINARY
ensure() {
    local crate=$1 version=$2 binary=$3 stamp=$root/$3-$2.installed
    if [ -x "$root/bin/$binary" ] && [ -f "$stamp" ]; then return; fi
    say "building $crate $version into $root (once, some minutes)"
    mkdir -p "$root"
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_TARGET_DIR="$root/target" \
        cargo install --quiet --locked --force --root "$root" --version "$version" "$crate" >&2
    rm -rf "$root/target"
    : >"$stamp"
}

ensure cargo-deny "$DENY" cargo-deny
ensure typos-cli "$TYPOS" typos
