#!/usr/bin/env bash
# `make demo-run`: builds the command and one example job, and runs it over real flights with a live table of windows.
#
# Takes all of January where its file lies beside the clone (../shared/data), else the part that the example ships. Under a
# terminal the input is read over some seconds, so that one can watch; elsewhere at full speed. The outputs stay in
# $TIDEGATE_DEMO_DIR (default ~/.cache/tidegate/demo).
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
demo=${TIDEGATE_DEMO_DIR:-$HOME/.cache/tidegate/demo}
example=guest-examples/flight-delays-rust
whole=../shared/data/flights-2013-01.ndjson.gz

say() { printf '%s\n' "$*" >&2; }

# The newest of the two inputs, unpacked once. Prints its path.
input() {
    local packed=$whole name=flights-2013-01.ndjson
    if [ ! -f "$packed" ]; then
        packed=$(find "$example/data" -name '*.ndjson.gz' -o -name '*.ndjson' | sort | head -n 1)
        name=$(basename "${packed%.gz}")
    fi
    [ -n "$packed" ] || { say "demo: no flights in $example/data"; return 1; }
    if [ ! -f "$demo/$name" ] || [ "$packed" -nt "$demo/$name" ]; then
        case $packed in
            *.gz) gunzip -c "$packed" >"$demo/$name.part" ;;
            *) cat "$packed" >"$demo/$name.part" ;;
        esac
        mv "$demo/$name.part" "$demo/$name"
    fi
    printf '%s\n' "$demo/$name"
}

mkdir -p "$demo"
cargo build ${CI:+--locked} --workspace --bin tidegate
"$target/debug/tidegate" build "$example" --output "$demo/flight-delays.wasm"
flights=$(input)

components=()
while read -r name; do
    components+=(--component "$name=$demo/flight-delays.wasm")
done < <(sed -n 's/.*component: *\([a-z0-9-]*\).*/\1/p' "$example/pipeline.yaml" | sort -u)

slowly=()
if [ -t 2 ]; then slowly=(--live-seconds "${TIDEGATE_DEMO_SECONDS:-20}"); fi

"$target/debug/tidegate" run "$example/pipeline.yaml" \
    --input "$flights" --partition-field origin --arrival-field arrival \
    "${components[@]}" --allow-unsigned --live "${slowly[@]}" \
    --output "$demo/panes.ndjson" --too-late "$demo/too-late.ndjson" \
    --dead-letter "$demo/dead-letters.ndjson" --duplicates "$demo/duplicates.ndjson"

cat >&2 <<END

Where to look next:
  the panes                  $demo/panes.ndjson
  too late, dead letters     $demo/too-late.ndjson, $demo/dead-letters.ndjson
  the pipeline               $example/pipeline.yaml
  the hooks, in Rust         $example/src/lib.rs
  what a pane means          docs/semantics.md
  the flags of the command   docs/local-run.md, or: $target/debug/tidegate run --help
END
