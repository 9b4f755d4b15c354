#!/usr/bin/env bash
# `make demo`: a tenant's whole way on a platform in one process, watched in the terminal.
#
# Builds the command and the example job, starts `tidegate dev` on a free port with its data in a folder of its own, makes a
# tenant and a signing key, signs and pushes the component, submits the pipeline of docs/pipeline-file.md's first example,
# and feeds eight minutes of ad events within one minute, over HTTP. The table shows windows as they change, until all have
# closed. However it ends, nothing that it started is left running; the data folder stays, to look around in.
#
# TIDEGATE_DEMO_SECONDS: over how many seconds the events are fed (default 55).
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
tidegate=$target/debug/tidegate
example=$root/guest-examples/campaign-metrics-rust
seconds=${TIDEGATE_DEMO_SECONDS:-55}
# What `make guests` builds is not built again.
guests=${TIDEGATE_GUEST_TARGET_DIR:-$HOME/.cache/tidegate/guests}
demo= server= feeder=

say() { printf '%s\n' "$*" >&2; }
step() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }
[ -t 2 ] || step() { printf '\n%s\n' "$*" >&2; }

# Says a command, and runs it: what stands here can be typed.
run() {
    say "\$ tidegate $*"
    "$tidegate" "$@" >&2
}

# Ends a process that this script started, and waits for its end.
end() {
    [ -n "$1" ] || return 0
    kill -TERM "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

cleanup() {
    local status=$?
    trap - EXIT INT TERM
    end "$feeder"
    end "$server"
    if [ "$status" -ne 0 ] && [ -n "$demo" ]; then
        say "demo: it ended with status $status; the platform's log is in $demo/dev.log"
    fi
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Waits until the platform says where it is.
wait_for_api() {
    local tries=0
    until [ -s "$demo/data/api.url" ]; do
        kill -0 "$server" 2>/dev/null || { say "demo: the platform did not start:"; cat "$demo/dev.log" >&2; return 1; }
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { say "demo: the platform is not there after 30 s; see $demo/dev.log"; return 1; }
        sleep 0.1
    done
}

# Events into the stream, at their pace, then the seal. Runs in the background; its children end with it.
feed() {
    local generator='' append=''
    trap 'kill $generator $append 2>/dev/null; exit 143' INT TERM
    mkfifo "$demo/events"
    "$tidegate" demo-events --seed 14 --minutes 8 --seconds "$seconds" >"$demo/events" 2>"$demo/made.json" &
    generator=$!
    "$tidegate" stream append ad-events --key campaign_id <"$demo/events" &
    append=$!
    wait "$append"
    wait "$generator"
    "$tidegate" stream seal ad-events
}

step "1. Build the platform and the tenant's component"
cargo build ${CI:+--locked} --workspace --bin tidegate
demo=$(mktemp -d "${TMPDIR:-/tmp}/tidegate-demo.XXXXXX")
CARGO_TARGET_DIR=$guests run build "$example" --output "$demo/campaign-metrics.wasm"

step "2. Start the platform: one process, everything in one folder"
say "\$ tidegate dev --data $demo/data --listen 127.0.0.1:0 &"
"$tidegate" dev --data "$demo/data" --listen 127.0.0.1:0 >"$demo/dev.log" 2>&1 &
server=$!
wait_for_api
TIDEGATE_API=$(cat "$demo/data/api.url")
export TIDEGATE_API
say "it listens at $TIDEGATE_API"
cd "$demo"

step "3. The platform's admin makes a tenant"
run tenant create acme --token-file data/admin.token
run token create acme --role tenant-admin --output acme.token --token-file data/admin.token
TIDEGATE_TOKEN=$(cat acme.token)
export TIDEGATE_TOKEN

step "4. The tenant makes a signing key, signs its component and hands it in"
run keygen --out acme
run key add acme acme.pub
run sign campaign-metrics.wasm --key acme.key --tenant acme --name campaign-metrics --version 1.0.0
run artifact push campaign-metrics.wasm

step "5. The tenant makes a stream and submits its pipeline"
run stream create ad-events --partitions 3
run job submit "$example/pipeline.yaml"

step "6. Ad events come in, eight minutes of them within $seconds seconds. Early rows (~) are speculative"
say "\$ tidegate demo-events | tidegate stream append ad-events --key campaign_id && tidegate stream seal ad-events"
say "\$ tidegate job status campaign-metrics --watch"
feed >"$demo/feed.log" 2>&1 &
feeder=$!
"$tidegate" job status campaign-metrics --watch
wait "$feeder" || { say "demo: feeding failed:"; cat "$demo/feed.log" >&2; exit 1; }
feeder=

step "7. What came of it"
run table rows campaign_minute --limit 5
run stream read ad-events-too-late --limit 1
run stream read campaign-metrics-dead-letters --limit 3
end "$server"
server=

cat >&2 <<END

The events that were fed: $(tail -n 1 "$demo/made.json")
The platform is stopped. Where to look next:
  start it again, on its data  $tidegate dev --data $demo/data
  the same way, step by step   docs/tutorial.md
  the pipeline and the hook    guest-examples/campaign-metrics-rust
  what a pane means            docs/semantics.md
  the platform's log           $demo/dev.log
  remove everything            rm -r $demo
END
