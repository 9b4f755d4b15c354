# Everything a person runs here. `make` alone lists it.
#
# Compiled things go to one folder outside the clone, so that a second clone does not build the dependencies again.
# `make CARGO_TARGET_DIR=...` chooses another. Each target does its own set-up; set-up that is done costs nothing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

export CARGO_TARGET_DIR ?= $(HOME)/.cache/tidegate/target
# In CI the lock file is what was reviewed: a change of it fails.
LOCKED := $(if $(CI),--locked)
# `--workspace` although one program is wanted: cargo would choose other features of shared dependencies for it alone, and
# build the large ones twice.
# How many random scenarios `make soak` runs. FIRST=n begins at another seed, SEED=n replays one.
SEEDS ?= 10000
# How many random drills `make drill` does. FIRST=n begins at another seed, SEED=n replays one, FAULT=name is one point alone.
RUNS ?= 200

.PHONY: help setup build guests demo demo-run test check fmt fmt-check clippy doc doc-check layers wit deny typos soak drill mutants bench

help: ## this list
	@echo 'Tidegate: stream jobs in WebAssembly, event-time windows, exact results.'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done
	@echo
	@echo 'New here? Run `make demo`, then read README.md.'

setup: ## install what is missing (done: silent, under a second)
	@.ci/setup.sh
	@.ci/setup-guests.sh

build: setup ## build the command `tidegate`
	cargo build $(LOCKED) --workspace --bin tidegate

guests: setup ## build the WebAssembly components of the examples and tests
	@.ci/build-guests.sh

demo: setup ## a tenant's whole way on the platform, live in the terminal
	@.ci/demo.sh

demo-run: setup ## windows over real flights through `tidegate run`, without a platform
	@.ci/demo-run.sh

test: guests build ## every test; what CI runs
	cargo test $(LOCKED) --workspace --no-fail-fast

check: fmt-check clippy doc-check layers wit deny typos ## format, lints, documentation, layers, contract, licences, spelling

fmt: setup ## format the code
	cargo fmt --all

fmt-check: setup
	cargo fmt --all --check

clippy: setup
	cargo clippy $(LOCKED) --workspace --all-targets -- -D warnings

doc: setup ## build the documentation of the code
	cargo doc $(LOCKED) --workspace --no-deps --document-private-items
	@echo "open $(CARGO_TARGET_DIR)/doc/tidegate/index.html"

doc-check: setup
	RUSTDOCFLAGS='-D warnings' cargo doc $(LOCKED) --workspace --no-deps --document-private-items

layers: setup
	cargo test $(LOCKED) --quiet -p tidegate-layers

wit: setup
	cargo test $(LOCKED) --quiet --workspace --test wit_contract

deny: setup
	@.ci/setup-tools.sh
	@.ci/deny.sh

typos: setup
	@.ci/setup-tools.sh
	@"$(or $(TIDEGATE_TOOLS),$(HOME)/.cache/tidegate/tools)/bin/typos"

soak: build ## random scenarios for long: make soak SEEDS=10000
	SEEDS=$(SEEDS) cargo test $(LOCKED) -p tidegate-conformance --test random -- --nocapture

drill: guests build ## kills of the platform, and what they lose: make drill RUNS=200
	$(if $(SEED)$(FAULT),,RUNS=$(RUNS)) FIRST=$(FIRST) SEED=$(SEED) FAULT=$(FAULT) DAMAGE=$(DAMAGE) cargo test $(LOCKED) -p tidegate-drill --test drill -- --nocapture

# ONLY="name name" plants these faults only, REV=commit takes the engine of a commit.
mutants: setup ## plant each fault in the engine: do the tests find it?
	cargo run $(LOCKED) -p tidegate-mutants -- $(if $(REV),--rev $(REV)) $(ONLY)

bench: setup guests ## the benchmarks of docs/benchmarks.md
	cargo bench $(LOCKED) -p tidegate-bench
