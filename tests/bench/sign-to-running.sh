#!/usr/bin/env bash
# How long a signed component of about 1 MB takes from the signature to a running job, part by part.
#
#   tests/bench/sign-to-running.sh [TIDEGATE]      default: the release build, $CARGO_TARGET_DIR/release/tidegate
#
# Builds the component (user-agents-rust beside this file) once, starts a platform in a folder of its own, and goes the way
# ROUNDS times (5 unless told), each with a platform that never saw the component. Prints each round, and the medians.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$HOME/.cache/tidegate/target}
tidegate=$(realpath "${1:-$target/release/tidegate}")
rounds=${ROUNDS:-5}
work=$(mktemp -d)
platform=
trap '[ -z "$platform" ] || kill "$platform" 2>/dev/null || true; rm -rf "$work"' EXIT

"$tidegate" build "$here/user-agents-rust" --output "$work/user-agents.wasm" --target-dir "$target/bench-guests" --locked
cd "$work"
"$tidegate" keygen --out acme > keygen.txt

now() { date +%s%N; }
ms() { echo $((($2 - $1) / 1000000)); }
# CPU time of the platform and of the children that it waited for, in hundredths of a second.
cpu() { awk '{print $14 + $15 + $16 + $17}' "/proc/$platform/stat"; }

start_platform() {
    "$tidegate" dev --data "data-$1" --listen 127.0.0.1:0 --log warn 2> "dev-$1.txt" &
    platform=$!
    until [ -s "data-$1/api.url" ]; do sleep 0.05; done
    TIDEGATE_API=$(cat "data-$1/api.url")
    export TIDEGATE_API
    admin=(--token-file "data-$1/admin.token")
    "$tidegate" tenant create acme "${admin[@]}" > setup.txt
    "$tidegate" token create acme --role tenant-admin --output "acme-$1.token" "${admin[@]}" > setup.txt
    acme=(--token-file "acme-$1.token")
    "$tidegate" key add acme acme.pub "${acme[@]}" > setup.txt
    "$tidegate" stream create requests "${acme[@]}" > setup.txt
}

round() {
    local begun signed admitted submitted running before
    start_platform "$1"
    before=$(cpu)
    begun=$(now)
    "$tidegate" sign user-agents.wasm --key acme.key --tenant acme --name user-agents --version 1.0.0 --out "$1.json" > signed.txt
    signed=$(now)
    "$tidegate" artifact push user-agents.wasm --signature "$1.json" "${acme[@]}" > pushed.txt
    admitted=$(now)
    "$tidegate" job submit "$here/user-agents-rust/pipeline.yaml" "${acme[@]}" > submitted.txt 2>&1
    submitted=$(now)
    until "$tidegate" job status user-agents --json "${acme[@]}" | grep -q '"state":"running"'; do :; done
    running=$(now)
    echo "$(ms "$begun" "$signed") $(ms "$signed" "$admitted") $(ms "$admitted" "$submitted")" \
        "$(ms "$submitted" "$running") $(ms "$begun" "$running") $((($(cpu) - before) * 10))" | tee -a rounds.txt
    kill "$platform" && wait "$platform" || true
    platform=
}

echo "component: $(stat -c %s user-agents.wasm) bytes; $(nproc) processors; load $(cut -d' ' -f1 /proc/loadavg)"
echo "ms: sign, upload to admitted, submit to accepted, accepted to running, together; CPU ms of the platform"
for number in $(seq "$rounds"); do round "$number"; done
echo "medians:"
for column in 1 2 3 4 5 6; do
    cut -d' ' -f"$column" rounds.txt | sort -n | sed -n "$(((rounds + 1) / 2))p"
done | paste -sd' '
