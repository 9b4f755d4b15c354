#!/usr/bin/env bash
# Licences, sources and bans of deny.toml; advisories where the RustSec database can be had.
#
# The first three need nothing but Cargo.lock and fail the check. Advisories need the database, a git repository: where it
# cannot be reached and no copy of it is here, this says so and goes on. TIDEGATE_REQUIRE_ADVISORIES=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=${TIDEGATE_TOOLS:-$HOME/.cache/tidegate/tools}/bin:$PATH

cargo deny check bans licenses sources

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if GIT_TERMINAL_PROMPT=0 timeout 300 cargo deny fetch db >"$log" 2>&1; then
    cargo deny --offline check advisories
elif compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/.git" >/dev/null; then
    printf 'deny: the advisory database could not be fetched; checking against the copy that is here\n'
    cargo deny --offline check advisories
else
    reason=$(grep -m 1 -E 'fatal|resolve|timed out' "$log" || echo 'no answer')
    printf 'deny: ADVISORIES WERE NOT CHECKED: the RustSec database could not be fetched (%s)\n' "$reason"
    [ "${TIDEGATE_REQUIRE_ADVISORIES:-0}" = 0 ]
fi
