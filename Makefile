# The whole developer interface. `make` alone does what continuous integration does.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JUDGES := target/judges
# The engine's portable stand-in for other systems, built and tested on this one.
PLAIN := RUSTFLAGS='--cfg evergrep_plain' CARGO_TARGET_DIR=target/plain

.PHONY: all try test build fmt lint types fast check judges soak bench clean need
.DEFAULT_GOAL := all

all: build check test ## build, format check, lint, types, all fast tests

need: ## name a missing tool, and the line that installs it
	@$(PYTHON) scripts/need.py

$(BIN)/python: | need
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.tools: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

build: $(VENV)/.tools ## build the engine and install the package into .venv
	PIP_QUIET=1 $(BIN)/maturin develop --release --quiet --extras mcp

try: build ## build, then ask a first question through the MCP server
	$(BIN)/python scripts/try.py

judges: $(VENV)/.tools ## real ripgreps to compare with, built from their published sources
	$(BIN)/python scripts/judges.py $(JUDGES)

test: build judges ## all fast tests
	cargo test --quiet --workspace --locked
	$(BIN)/python -m pytest

fast: ## the engine's own tests, without Python
	cargo test --quiet -p evergrep-engine

check: lint types

lint: $(VENV)/.tools ## format check and lint, both languages
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
	$(PLAIN) cargo clippy --quiet -p evergrep-engine --all-targets --locked -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: build ## pyright, strict
	$(BIN)/pyright

fmt: $(VENV)/.tools ## format everything
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

soak: build judges ## the long tests, and the engine as other systems build it
	$(PLAIN) cargo test --quiet -p evergrep-engine --locked
	EVERGREP_ROUNDS=20000 EVERGREP_RACE=300 $(BIN)/python -m pytest --timeout 7200 -m 'long or not long'

bench: build ## against the newest ripgrep, on a kernel tree; results go to benches/
	$(BIN)/python benches/run.py

clean:
	rm -rf $(VENV) target build .cache
