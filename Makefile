# `make help` says what each command does. Works with GNU make 3.81.

PYTHON ?= python3
PORT ?= 8000
VENV = .venv
ifeq ($(OS),Windows_NT)
BIN = $(VENV)/Scripts
else
BIN = $(VENV)/bin
endif
PY = $(BIN)/python
# What is installed, as files that a changed pyproject.toml or constraints.txt makes stale: the site's
# packages alone for `make serve`, everything for the rest.
SITE = $(VENV)/installed-docs
ALL = $(VENV)/installed-dev
# pymdownx, mkdocs and pytest read files as UTF-8, whatever the system's locale is.
export PYTHONUTF8 = 1
export NO_MKDOCS_2_WARNING = 1
# Nothing is compiled when it is installed: a shell that forbids it would have every process compile all of torch.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help serve test site outputs bench check clean chosen

help:
	@echo "make serve     serve the site at http://127.0.0.1:$(PORT)/ and reload it on every save"
	@echo "make test      run every block of every page, and every test"
	@echo "make site      build the site into site/, and fail on any warning"
	@echo "make outputs   rewrite the stored outputs after an intended change, and show the difference"
	@echo "make bench     measure times and memory of the Functions, as ratios within one run"
	@echo "make check     lint, format and types"
	@echo "make clean     remove .venv, site and caches"

serve: chosen $(SITE)
	@$(PY) -m sitetools.serve $(PORT)

test: chosen $(ALL)
	@$(PY) -m pytest -n 2

site: chosen $(ALL)
	@$(PY) -m sitetools.build

outputs: chosen $(ALL)
	@$(PY) -m sitetools.generate
	@$(PY) -m pytest docs README.md --update-outputs -q

bench: chosen $(ALL)
	@$(PY) -m tests.benchmarks.run $(ONLY)
	@$(PY) -m sitetools.generate

check: chosen $(ALL)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

# PYTHON makes the environment; once there is one, another version would be ignored.
chosen:
ifeq ($(origin PYTHON),command line)
	@test ! -x $(PY) || { \
	  version='import sys; print("%d.%d" % sys.version_info[:2])'; \
	  has=$$($(PY) -c "$$version"); wanted=$$($(PYTHON) -c "$$version"); \
	  test "$$has" = "$$wanted" || { \
	    echo "$(VENV) has Python $$has and $(PYTHON) is $$wanted: run \`make clean\` first" >&2; exit 1; }; }
else
	@:
endif

# Compiling every installed module would take longer than installing it; Python compiles what it imports.
PIP = $(PY) -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
INPUTS = pyproject.toml constraints.txt

define environment
	@$(PYTHON) -c "import sys; v = sys.version_info; v >= (3, 11) or sys.exit('customgrad needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name another: make PYTHON=python3.12 ...' % v[:2])"
	@echo "installing what is pinned in constraints.txt into $(VENV) (once; about 1.5 GB, some minutes on a slow line)"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
endef
ifdef TORCH_INDEX
define torch
	@$(PIP) --index-url $(TORCH_INDEX) torch
endef
endif

$(SITE): $(INPUTS)
	$(environment)
	$(torch)
	@$(PIP) --editable ".[docs]"
	@touch $(SITE)

$(ALL): $(INPUTS)
	$(environment)
	$(torch)
	@$(PIP) --editable ".[dev]"
	@touch $(SITE) $(ALL)

clean:
	rm -rf $(VENV) site .cache .pytest_cache .ruff_cache .mypy_cache .hypothesis
