# Every target sets up what it needs: Python 3.11+ and make are enough.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2
export OMP_NUM_THREADS ?= 1

.PHONY: setup test check format bench demo docs clean

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("backplay needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

test: setup  ## all tests
	$(BIN)/pytest -n $(JOBS) --dist worksteal --durations 12

check: setup  ## format, lint, types, fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(JOBS) -m "not slow"

format: setup  ## put the code into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# What chooses settings takes arguments and hours; tasks and candidates are imported by it.
CHOOSERS := benchmarks/choose_% $(addprefix benchmarks/,car.py candidates.py learner_envs.py learner_tasks.py no_flag.py pommerman_tuning.py)

bench: setup  ## every benchmark, one after the other
	@for file in $(filter-out $(CHOOSERS),$(wildcard benchmarks/*.py)); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

demo: setup  ## the first five minutes
	$(BIN)/backplay demo

docs: setup  ## the documentation site, into site/; docs/notebooks/execute.py runs the notebooks anew
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # with --quiet a broken link would be no error
	@echo "open site/index.html; with a search box: $(BIN)/python -m http.server -d site"

clean:
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache
