# Every target sets up what it needs and redoes nothing that is up to date.

# Evaluated only when an environment is made. A python that is found but does not start is no python.
PYTHON ?= $(shell for p in python3.11 python3; do \
	"$$p" -c pass >/dev/null 2>&1 && { echo "$$p"; break; }; done)
TEST_JOBS ?= 2
# Each process begins with files of its own, so most fixtures of a file are made once.
SPREAD := --dist worksteal
# One process a core: threads of linear algebra would only wait for each other.
test test-quick test-docs test-benchmarks test-no-torch test-clients test-oldest fuzz mutate: export OMP_NUM_THREADS ?= 1
PYTEST_ARGS ?=
FUZZ_CALLS ?= 100000
BENCH_ARGS ?=
FILE ?= skbiasamp
SAMPLE ?= 20
SEED ?= 0

BIN := .venv/bin
READY := .venv/.ready
AUDIT_READY := .venv-audit/.ready
CORE_READY := .venv-core/.ready
CLIENTS_READY := .venv-clients/.ready
OLDEST_READY := .venv-oldest/.ready
SPARK_READY := .venv-spark/.ready
DOCS_READY := .venv/.docs-ready
MUTATE_READY := .venv/.mutate-ready
# Some tests by name need no torch and no engine, unless both are here already.
TESTED := $(if $(PYTEST_ARGS),$(or $(wildcard $(READY)),$(CORE_READY)),$(READY))
# Which tests execute a line.
TESTS_OF_LINES := .coverage.mutate.json
# What meets scikit-learn, SciPy and Matplotlib: the tests that their releases could break.
COMPATIBILITY := $(wildcard $(addprefix tests/test_,auditors.py cli.py compose.py \
	exact_attacker.py mitigation_*.py model_selection.py plotting*.py predictability.py probe.py \
	report.py sklearn.py subgroups.py))

# What a first change most likely breaks: definitions, the papers' values, bad input, the report.
QUICK := $(addprefix tests/test_,$(addsuffix .py,definitions published_values inference input_table \
	report invariance language))

CLIENT_TESTS := tests/test_clients.py

# Reference data beside the repository, unless the caller points elsewhere.
ifneq ($(wildcard ../shared/data),)
export SKBIASAMP_DATA ?= $(abspath ../shared/data)
endif
ifneq ($(wildcard ../shared/oracle),)
export SKBIASAMP_ORACLE ?= $(abspath ../shared/oracle)
endif

# Bytecode is kept: otherwise every process of the tests compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help audit test test-quick test-docs test-benchmarks fuzz test-no-torch test-clients test-spark test-oldest lint docs dist \
	bench mutate clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

audit: $(AUDIT_READY) ## audit real data that come with the package, and write two pages
	.venv-audit/bin/python -m skbiasamp demo

test: $(TESTED) ## run all tests of the package and docstring examples (PYTEST_ARGS="-k ties", TEST_JOBS=8)
	$(TESTED:.ready=bin/python) -m pytest -n $(TEST_JOBS) $(SPREAD) -m "not benchmarks and not pages" $(PYTEST_ARGS)

test-quick: $(CORE_READY) ## run the tests that most changes need, without torch and engines, in half a minute
	.venv-core/bin/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -m "not benchmarks and not pages" $(PYTEST_ARGS) \
		$(QUICK)

test-docs: $(READY) ## run the code of the docs, the gallery, examples and recipes, and the app in a browser
	$(BIN)/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -m pages $(PYTEST_ARGS)

test-benchmarks: $(READY) ## run the short form of every benchmark, and check its tables
	$(BIN)/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -m benchmarks $(PYTEST_ARGS) tests

fuzz: $(READY) ## make hostile calls for a long time (FUZZ_CALLS=1000000), and new examples of properties
	FUZZ_CALLS=$(FUZZ_CALLS) $(BIN)/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -rP tests/test_fuzz.py
	$(BIN)/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q --hypothesis-profile fresh $(shell grep -l "^from hypothesis" tests/*.py)

test-no-torch: $(CORE_READY) ## run the same tests in an environment without torch, but those that take long
	@.venv-core/bin/python -c "import importlib.util, sys; \
		sys.exit(importlib.util.find_spec('torch') and 'torch can be imported here: this run would prove nothing')"
	.venv-core/bin/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -m "not benchmarks and not slow" $(PYTEST_ARGS)

test-clients: $(CLIENTS_READY) ## run the tests of other libraries: XGBoost, MLflow, Fairlearn, ... (1 GB)
	SKBIASAMP_CLIENTS=1 .venv-clients/bin/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q $(PYTEST_ARGS) \
		$(CLIENT_TESTS)

test-spark: $(SPARK_READY) ## run the tests of Spark, in an environment of half a gigabyte (needs Java)
	.venv-spark/bin/python -m pytest -q $(PYTEST_ARGS) tests/test_engines_spark.py

test-oldest: $(OLDEST_READY) ## run the tests of compatibility with the oldest releases we allow
	.venv-oldest/bin/python -m pytest -n $(TEST_JOBS) $(SPREAD) -q -m "not slow" $(PYTEST_ARGS) $(COMPATIBILITY)

lint: $(READY) ## check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy skbiasamp
	$(BIN)/mypy --strict tests/typing_uses.py examples

docs: $(DOCS_READY) ## build the documentation site: docs/_build/html/index.html
	rm -rf docs/_build docs/generated
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W -b html docs docs/_build/html
	$(BIN)/python -m pytest -q tests/test_site.py

dist: ## build sdist and wheel, check both, and run README's code with the wheel alone
	rm -rf dist .venv-dist
	"$(PYTHON)" -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	.venv-dist/bin/python -m build --outdir dist .
	.venv-dist/bin/python -m twine check --strict dist/*
	rm -rf .venv-dist
	"$(PYTHON)" -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--constraint constraints.txt "$$(echo dist/*.whl)"
	cp README.md dist/
	cd dist && ../.venv-dist/bin/python -m doctest -o NORMALIZE_WHITESPACE -o ELLIPSIS README.md
	cd dist && ../.venv-dist/bin/skbiasamp demo && rm -f README.md *.html

bench: $(READY) ## run all benchmarks and write their pages (BENCH_ARGS="--short", or names)
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

mutate: $(TESTS_OF_LINES) ## change a module or folder, and list what no test notices (FILE=skbiasamp/inference/_growth.py, SAMPLE=20, SEED=0)
	$(BIN)/python benchmarks/mutate.py $(FILE) --sample $(SAMPLE) --seed $(SEED)

clean: ## remove the environments and everything built
	rm -rf .venv .venv-audit .venv-clients .venv-core .venv-dist .venv-oldest .venv-peers .venv-spark build dist docs/_build docs/auto_examples docs/generated compas-score.html compas-classifier.html .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage*
	find . -name __pycache__ -prune -exec rm -rf {} +

# The stamp is the last thing written, so an environment without one is half made and made anew.
# It carries the time at which the installation began: a file edited meanwhile counts as newer.
define install
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
		echo "skbiasamp needs Python 3.11 or newer and '$(PYTHON)' is none: make PYTHON=python3.11" >&2; \
		exit 1; }
	@test -f $@ || rm -rf $(@D)
	@rm -f $@
	"$(PYTHON)" -m venv $(@D)
	@touch $@.begun
	$(if $(GROUPS),$(@D)/bin/python -m pip install --quiet --disable-pip-version-check "pip>=25.1")
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) \
		--constraint $(CONSTRAINTS) $(addprefix --group ,$(GROUPS)) \
		--editable ".$(if $(EXTRAS),[$(EXTRAS)])"
	$(AFTER)
	@mv $@.begun $@
endef

# On top of the environment of the tests: only those who build the site wait for Sphinx.
$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --group docs
	@touch $@

$(MUTATE_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --group mutate
	@touch $@

$(TESTS_OF_LINES): $(MUTATE_READY) $(shell find skbiasamp tests -name '*.py')
	$(BIN)/python benchmarks/mutate.py --measure

$(READY): EXTRAS := all,ibis,torch
$(READY): GROUPS := test dev
# Modules that a first audit does not import are not compiled: a third of the time and the size.
$(AUDIT_READY): EXTRAS := app
$(AUDIT_READY): PIP_ARGS := --no-compile
# An audit installs nothing; an environment that is made again gets both back.
$(AUDIT_READY): AFTER = @$(@D)/bin/python -m pip uninstall -qq --yes setuptools pip
$(CORE_READY): GROUPS := test
$(OLDEST_READY): EXTRAS := plot,mitigation
$(OLDEST_READY): GROUPS := test
$(CLIENTS_READY): GROUPS := clients
$(SPARK_READY): EXTRAS := spark
$(SPARK_READY): GROUPS := test
$(READY) $(AUDIT_READY) $(CORE_READY) $(SPARK_READY): CONSTRAINTS := constraints.txt
$(CLIENTS_READY): CONSTRAINTS := constraints-clients.txt
$(OLDEST_READY): CONSTRAINTS := constraints-oldest.txt
$(READY) $(AUDIT_READY) $(CORE_READY) $(SPARK_READY): pyproject.toml constraints.txt
	$(install)
$(CLIENTS_READY): pyproject.toml constraints-clients.txt
	$(install)
$(OLDEST_READY): pyproject.toml constraints-oldest.txt
	$(install)
