# make run    set-up and the demo           make test      fast tests, one whole run
# make lint   style, types, rules           make test-all  all tests, some on a sample
# make check  lint and test                 make clean     remove results and logs
# make bench  benchmarks of this machine, to benchmarks/runs/

PYTHON ?= python3
CORES ?= 2
VENV := .venv
BIN := $(VENV)/bin
# Each process gets one test file at a time, in the order of conftest.py.
PYTEST := $(BIN)/python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

.PHONY: setup run test test-all lint check bench clean

run: setup
	$(BIN)/snakemake --cores $(CORES)

test: $(VENV)/developing
	$(PYTEST)

test-all: $(VENV)/developing
	$(PYTEST) --whole $(if $(REPORT),--junitxml=$(REPORT))

lint: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

check: lint test

bench: setup
	$(BIN)/python benchmarks/all.py

setup: $(VENV)/running

$(VENV)/running: envs/requirements.txt
	$(call create)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.txt
	touch $@

$(VENV)/developing: envs/requirements-dev.txt $(VENV)/running
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r envs/requirements-dev.txt
	touch $@

define create
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
	"corpusmill needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Name another: make PYTHON=python3.12" \
	>&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
endef

clean:
	rm -rf results logs .snakemake
