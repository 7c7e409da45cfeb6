# Each target does all its own set-up in .venv; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
# What `make demo` grades; `make demo CHAPTERS=` takes all ten, which takes some minutes more.
CHAPTERS ?= 02 03
READY := .venv/.ready
# Two processes: each loads TensorFlow once and keeps it for all the test files it is given.
TESTS ?= -n 2 --dist loadfile

.PHONY: help lab teach demo grade test lint build bench conformance fidelity lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-compile \
	  --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps \
	  --no-build-isolation -e .
	@touch $@

lab: $(READY)  ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks

teach: $(READY)  ## open JupyterLab on the whole course, with formgrader in its Nbgrader menu
	$(BIN)/jupyter lab

demo: $(READY)  ## make a class of demo students, grade it, print the scores (CHAPTERS="01 04")
	$(BIN)/grader demo $(CHAPTERS)
	$(BIN)/nbgrader export

grade: $(READY)  ## grade whatever is in submitted/
	$(BIN)/grader grade

test: $(READY)  ## everything that must hold: style, types, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(TESTS)

lint: $(READY)  ## style and types of the code, and the course's own lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/grader lint

build: $(READY)  ## build notebooks and data from solutions/
	$(BIN)/grader build

bench: $(READY)  ## measure the engine against stock nbgrader, the chapters, the checks
	$(BIN)/python tests/bench/bench_engine.py
	$(BIN)/python tests/bench/bench_chapters.py
	$(BIN)/python tests/bench/bench_check.py

conformance: $(READY)  ## run nbgrader's own tests with the engine plugged in
	$(BIN)/python tests/conformance/run.py

fidelity: $(READY)  ## compare the chapters' outputs with those of a real kernel
	$(BIN)/python -m pytest tests/fidelity
	$(BIN)/python tests/fidelity/run.py

lock:  ## pin what pyproject.toml asks for (needs uv)
	uv pip compile pyproject.toml --all-extras --universal --fork-strategy fewest \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
	  --quiet -o requirements.lock

clean:  ## remove what grading and tests leave behind, and the environment
	rm -rf .venv autograded feedback .pytest_cache .mypy_cache .ruff_cache .hypothesis
