# Both commands of the README work on a fresh clone: they make their own virtual environment in .venv.
PYTHON ?= python3
VENV := .venv
CONSTRAINTS := constraints.txt
BIN := $(VENV)/bin
SOURCES := $(shell find cpp -name '*.hpp' -o -name '*.cpp') CMakeLists.txt pyproject.toml

.PHONY: demo test test-oldest lint types stubs docs bench sanitize sanitize-threads fuzz torture clean

demo: $(VENV)/installed
	$(BIN)/hinge demo

test: $(VENV)/installed lint types
	$(BIN)/python -m pytest -n auto

# All tests with the oldest versions that pyproject.toml allows, in an environment of their own.
test-oldest:
	$(MAKE) PYTHON=python3.11 VENV=.venv-oldest CONSTRAINTS=constraints-oldest.txt .venv-oldest/installed
	.venv-oldest/bin/python -m pytest -n auto

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .

types: $(VENV)/installed
	$(BIN)/mypy

# The type stub of the native module, generated; a test compares it.
stubs: $(VENV)/installed
	$(BIN)/python -m nanobind.stubgen -m hinge._core -o src/hinge/_core.pyi

# hinge learn under kills, bad lines, full disks and second writers, for minutes.
torture: $(VENV)/installed
	$(BIN)/python tests/cli/torture.py --seconds 300

# What is generated from the options table: types, and the reference of options and commands. Tests compare it.
docs: $(VENV)/installed
	$(BIN)/python -m hinge.options.generate
	$(BIN)/python -m hinge.cli.reference docs/reference

bench: $(VENV)/installed
	$(BIN)/pip install --quiet -c constraints.txt vowpalwabbit || echo "vowpalwabbit is not to be had here"
	$(BIN)/pip install --quiet -c constraints.txt python-crfsuite || echo "python-crfsuite is not to be had here"
	$(BIN)/pip install --quiet liblinear-official || echo "liblinear-official is not to be had here"
	$(BIN)/python benchmarks/run.py

# The tests of the boundary on a build with AddressSanitizer and UndefinedBehaviorSanitizer.
sanitize: $(VENV)/installed
	sh tests/core/sanitize.sh

# The tests of threads on a build with ThreadSanitizer.
sanitize-threads: $(VENV)/installed
	sh tests/core/sanitize.sh thread

# Any bytes into the native readers, for a minute, on a build with the same sanitizers.
fuzz:
	sh tests/core/fuzz/run.sh

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/tools: $(VENV)/bin/python $(CONSTRAINTS) pyproject.toml
	@echo "Setting up $(VENV) and building the core: two to three minutes."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) \
	  scikit-build-core nanobind cmake ninja
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -c $(CONSTRAINTS) \
	  --config-settings=editable.mode=redirect \
	  --config-settings=build-dir='build/$(VENV)' -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .venv-oldest build .pytest_cache .mypy_cache .ruff_cache .hypothesis
