# Each target sets up what it needs in .venv and may be run again at any time.
PORT ?= 8000
HOST ?= 127.0.0.1
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && { echo $$p; exit; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: serve test lint bench clean lock

serve: $(VENV)/.serve
	@$(BIN)/vivavoce models pull kokoro || echo "Going on without the Kokoro voices; 'vivavoce models pull kokoro' brings them later."
	@exec $(BIN)/vivavoce serve --host $(HOST) --port $(PORT)

test: lint
	@$(BIN)/vivavoce models pull kokoro whisper-base
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	@$(BIN)/vivavoce models pull kokoro whisper-base
	$(BIN)/python bench/run.py $(BENCH)

clean:
	rm -rf $(VENV) .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# Locks carry hashes and no addresses; run this after a change of dependencies (needs uv).
lock:
	for set in "base:" "serve:--extra tts --extra play" "test:--extra tts --extra play --extra stt --extra otel --extra dev" \
	           "bench:--extra tts --extra play --extra stt --extra otel --extra dev --extra bench"; do \
	  uv pip compile pyproject.toml requirements/build.in $${set#*:} --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --custom-compile-command "make lock" --quiet -o requirements/$${set%%:*}.txt || exit 1; \
	done

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "vivavoce needs Python 3.11, 3.12 or 3.13 (on Debian: apt install python3 python3-venv)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module is missing (on Debian: apt install python3-venv)"; exit 1; }

$(VENV)/.%: requirements/%.txt pyproject.toml | $(VENV)/bin/python
	@echo "Setting up $(VENV) for '$*' (once)…"
	@$(PIP) install --require-hashes -r requirements/$*.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
	@case $* in test) touch $(VENV)/.serve;; bench) touch $(VENV)/.serve $(VENV)/.test;; esac  # they hold the smaller sets
