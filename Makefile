# The first two commands of the README do all the set-up: a fresh machine needs python3 >= 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := fwbench solvers problems tests

# The tests start hundreds of processes, which would compile all of the code anew without byte code.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test faults browser slow bench bench-gate ratios layers check format clean

run: $(VENV)/.installed  ## run the default suite and write a report
	$(BIN)/fwbench run

test: check  ## all tests but the slow ones
	$(BIN)/python -m pytest -m "not slow" -q -n 2 --dist worksteal --ignore=tests/faults --ignore=tests/browser
	$(MAKE) --no-print-directory -j 2 faults browser

# Both mostly wait, for time limits and for a browser: they go on side by side.
faults browser: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "not slow" -q tests/$@

slow: $(VENV)/.installed-dev  ## the slow tests
	$(BIN)/python -m pytest -m slow -q

bench: $(VENV)/.installed-dev  ## speed of the hot loops, of the harness, out of core, and of a large report; one thread
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/bench -q --benchmark-enable --benchmark-columns=median,iqr,rounds
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.layers
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.overhead
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.out_of_core
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.report

bench-gate: $(VENV)/.installed-dev  ## false alarms of the gate on this machine, and what it finds: the table of docs/gate.md
	$(BIN)/python -m tests.bench.gate
	$(BIN)/python -m pytest -m slow -q tests/gate -k 15_percent_slower

layers: $(VENV)/.installed-dev  ## what a layer of attention costs beside its bare product and torch
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.layers

ratios: $(VENV)/.installed-dev  ## how many times faster than foreign codes: the table of the README
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.ratios

check: $(VENV)/.installed-dev  ## format, lint, types
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.installed-dev  ## put the code into shape
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "fwbench needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:  ## remove what was installed and compiled here
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache *.egg-info
