# `make` alone lists the targets. Each calls one module or tool; nothing is decided here but which engine to install.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Compiled bytecode is worth seconds at every start of the engine, so recipes may write it.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --no-input --no-compile --disable-pip-version-check

PROFILE ?= sample
LIMIT ?= $(if $(filter sample,$(PROFILE)),10)
OUT ?= build/release
SUBMISSION ?= submissions/smollm2-135m-instruct-q4_1

##@ Build the benchmark

.PHONY: build-bench
build-bench: $(VENV)/.stamp-engine ## build a release and show its gate; see the variables below
	@$(BIN)/python -m builders build --profile '$(PROFILE)' --out '$(OUT)' $(if $(LLM),--llm '$(LLM)') \
	  $(if $(JUDGE),--judge '$(JUDGE)') $(if $(LIMIT),--limit '$(LIMIT)') $(if $(SOURCES),--sources '$(SOURCES)') \
	  $(if $(QA_DIR),--qa-dir '$(QA_DIR)') $(if $(RAW_DIR),--raw-dir '$(RAW_DIR)') $(if $(DRY_RUN),--dry-run,--no-summary)
	@$(if $(DRY_RUN),,$(BIN)/honestybench gate '$(OUT)')
	@$(if $(DRY_RUN),,$(BIN)/python -m builders summary '$(OUT)')

.PHONY: verify
verify: $(VENV)/.stamp-base ## check every byte of the release in OUT against its manifest
	@$(BIN)/honestybench verify '$(OUT)'

.PHONY: sample
sample: $(VENV)/.stamp-engine ## rebuild the sample that ships inside the package
	@$(BIN)/python -m builders sample

##@ Run the leaderboard

.PHONY: score-release
score-release: $(VENV)/.stamp-base ## write labels and baselines of the release in OUT into SUBMISSION, its LLM's folder
	@$(BIN)/honestybench score-release '$(OUT)' --out '$(SUBMISSION)'
	@$(BIN)/honestybench baselines '$(OUT)' --out '$(SUBMISSION)'

.PHONY: score
score: $(VENV)/.stamp-base ## score every submissions/<llm>/<system> again: scorecard.json, comparison.json
	@$(BIN)/honestybench score-all submissions

.PHONY: leaderboard
leaderboard: $(VENV)/.stamp-base ## build the site from submissions/ into site/
	@$(BIN)/python -m leaderboard build

.PHONY: serve
serve: leaderboard ## build the site and serve it to this machine's browsers, at port 8000
	@$(BIN)/python -m leaderboard serve

.PHONY: screenshots
screenshots: leaderboard browser ## take pictures of the site into build/screenshots/
	@$(BIN)/python -m leaderboard screenshots

.PHONY: browser
browser: ## install Debian's Chromium where it is missing, for pictures and the tests of the site (as root)
	@command -v chromedriver > /dev/null && { command -v chromium || command -v google-chrome; } > /dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo 'browser: installing chromium, chromium-driver and fonts-liberation'; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
	      chromium chromium-driver fonts-liberation > /dev/null; \
	  else echo 'browser: Chromium is missing; as root: apt-get install chromium chromium-driver' >&2; exit 1; fi

##@ Develop

.PHONY: venv
venv: $(VENV)/.stamp-engine ## make .venv with the engine for this machine (GPU or CPU)

.PHONY: test
test: $(VENV)/.stamp-engine $(if $(filter 0,$(shell id -u)),browser) ## run all tests, real engine and browser included; ARGS='-k name' narrows them
	@$(BIN)/python -m pytest $(ARGS)

.PHONY: bench
bench: $(VENV)/.stamp-engine ## measure speed as ratios in one run, with every script of tests/bench/ (minutes); ARGS are theirs
	@for script in $$(grep -l __main__ tests/bench/*.py); do $(BIN)/python "$$script" $(ARGS); done

.PHONY: lint
lint: $(VENV)/.stamp-base ## ruff, its formatter in check mode, and mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

.PHONY: format
format: $(VENV)/.stamp-base ## sort imports, mend what ruff can mend, format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: wheel
wheel: $(VENV)/.stamp-base ## build the wheel into dist/
	@$(BIN)/python -m build --no-isolation --outdir dist .

.PHONY: clean
clean: ## delete what was built (build/, dist/, caches); .venv stays
	@rm -rf build dist honestybench.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

.PHONY: help
help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nVariables of build-bench, as in: make build-bench LIMIT=40\n'
	@printf '  %-17s %s\n' \
	  PROFILE= 'sample (default) or paper' \
	  LLM= 'the answering model (default: the one of the profile)' \
	  JUDGE= 'lexical or llm:NAME (default: the one of the profile)' \
	  OUT= 'where the release goes (default: build/release)' \
	  LIMIT= 'questions per source and split (default: 10 for sample, all for paper)' \
	  SOURCES= 'comma-separated keys (default: all)' \
	  RAW_DIR= 'the sources'\'' original files (default: the questions carried here; for paper the Hub'\''s)' \
	  QA_DIR= 'or the question files of the paper'\''s authors' \
	  DRY_RUN=1 'print the plan and start nothing'

# The virtual environment has two levels: base (the package and its tools) and engine (vLLM on top of it). A stamp is
# taken away before an install and set after it, so an environment whose install was cut short is made anew.

$(VENV)/.stamp-base: setup.cfg pyproject.toml constraints/base.txt
	@test -e $@ || { echo 'venv: making $(VENV)'; $(PYTHON) -m venv --clear '$(VENV)'; }
	@rm -f $(VENV)/.stamp-*
	@echo 'venv: installing the package and its tools'
	@$(PIP) --upgrade 'pip==26.3'
	@$(PIP) --no-deps -r constraints/base.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-engine: $(VENV)/.stamp-base constraints/engine-cpu.txt constraints/engine-gpu.txt
	@rm -f $(VENV)/.stamp-*
	@kind=cpu; ! nvidia-smi > /dev/null 2>&1 || kind=gpu; \
	  echo "venv: installing the $$kind engine (takes a minute or more)"; \
	  $(PIP) --no-deps -r constraints/engine-$$kind.txt
	@$(BIN)/python -c 'import torch' || { echo 'venv: torch does not load; see "Installing" in README.md'; exit 1; }
	@touch $(VENV)/.stamp-base $@
