# Each target makes the environment it needs in .venv; a second run installs nothing.
#   make PYTHON=/path/to/python3 ...      the interpreter to make .venv with
#   make test PYTEST_ARGS="-k cone -x"    more arguments for pytest

VENV := .venv
BIN := $(VENV)/bin
NEWEST := $(VENV)-newest
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests start many processes; each would compile all modules of dockdyn again where what is compiled may not be kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test sample verify lint newest docs wheel bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.stamp-core ## dock a probe into a cone; the report lands in demo/
	$(BIN)/dockdyn run probe-cone --out demo --force

test: $(VENV)/.stamp-dev ## run the tests, the large random checks sampled
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not full" $(PYTEST_ARGS)

sample: $(VENV)/.stamp-dev ## run some of the long tests, as the commit draws them, within three minutes
	$(BIN)/python -m pytest -q -n 2 --sample-of-full 3 $(PYTEST_ARGS)

# How many files, runs, stops, signals and packets it draws at random: DOCKDYN_FUZZ_... in CONTRIBUTING.md.
verify: $(VENV)/.stamp-dev ## run every test, the long ones in full; write docs/validation.md
	$(BIN)/python -m pytest -q -n 2 --dist loadfile $(PYTEST_ARGS)
	$(BIN)/python docs/make_validation.py

lint: $(VENV)/.stamp-dev ## check style, format, types and the order of imports
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tests/lint_setups.py
	$(BIN)/python tests/lint_names.py

newest: $(VENV)/.stamp-venv ## compare machine code with what the newest JAX makes, in an environment of its own
	$(BIN)/python -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e '.[dev]'
	$(NEWEST)/bin/python -m pip list --disable-pip-version-check | grep -iE '^(jax|jaxlib|equinox|diffrax|llvmlite) '
	$(NEWEST)/bin/python -m pytest -q -m "not full" tests/translate $(PYTEST_ARGS)

docs: $(VENV)/.stamp-docs ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

wheel: $(VENV)/.stamp-core ## build the sdist, the wheel from it, and run that by itself, outside of the checkout
	rm -rf build/wheel && mkdir -p build/wheel/elsewhere
	@$(INSTALL) --target build/wheel/tools hatchling==1.33.0
	PYTHONPATH=build/wheel/tools $(BIN)/python -m hatchling build -t sdist -d build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel build/wheel/*.tar.gz
	$(BIN)/python -m zipfile -e build/wheel/*.whl build/wheel/alone
	cd build/wheel/elsewhere && export PYTHONPATH=$(CURDIR)/build/wheel/alone && \
	    $(CURDIR)/$(BIN)/python -P -c "import dockdyn, sys; sys.exit('build/wheel/alone' not in dockdyn.__file__)" && \
	    $(CURDIR)/$(BIN)/python -P -m dockdyn run probe-cone --quiet

bench: $(VENV)/.stamp-bench ## speed beside Numba, MuJoCo, tdcpy, Pinocchio and Runge-Kutta
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/stability_chart.py
	$(BIN)/python benchmarks/tree.py
	$(BIN)/python benchmarks/variational.py
	$(BIN)/python benchmarks/rig.py
	$(BIN)/python benchmarks/campaign.py
	$(BIN)/python benchmarks/soft_capture.py

clean: ## remove what was built and cached (.venv stays)
	rm -rf demo docs/_build build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# --- the environment ---------------------------------------------------------------------------

# A .venv that was copied from another folder, or whose interpreter is gone, is set up again.
ifneq ($(CURDIR) $(wildcard $(BIN)/python),$(shell cat $(VENV)/.stamp-venv 2>/dev/null) $(BIN)/python)
$(shell rm -f $(VENV)/.stamp-*)
endif

# Prints the first interpreter that, when run, is new enough and can make environments.
# Being on PATH is not enough: a version manager's shim may be there and refuse to run.
define FIND_PYTHON
try() {
    if [ -x "$$1" ] && "$$1" -c "$$check" </dev/null >/dev/null 2>&1; then
        echo "$$1"
        exit 0
    fi
}
check='import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))'
[ -z "$$PYTHON" ] || try "$$(command -v "$$PYTHON")"
for name in python3.12 python3.13 python3.14 python3; do
    IFS=:
    for folder in $$PATH; do
        try "$$folder/$$name"
    done
    unset IFS
done
for file in "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
    try "$$file"
done
echo "dockdyn needs Python 3.12 or newer with its venv and ensurepip modules; none was found (name one: make PYTHON=/path/to/python3)." >&2
exit 1
endef
export FIND_PYTHON

$(VENV)/.stamp-venv:
	@python=$$(sh -c "$$FIND_PYTHON") || exit 1; \
	if $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then \
	    echo "Using the environment in $(VENV)"; \
	else \
	    echo "Making $(VENV) with $$python"; \
	    "$$python" -m venv --clear $(VENV) || exit 1; \
	fi; \
	echo "$(CURDIR)" >$@

$(VENV)/.stamp-core: pyproject.toml constraints.txt | $(VENV)/.stamp-venv
	@echo "Installing dockdyn into $(VENV) (a few minutes, this once)"
	@$(INSTALL) -e .
	@touch $@

# dev, docs, bench: the core and one set of extra packages
$(VENV)/.stamp-%: pyproject.toml constraints.txt | $(VENV)/.stamp-venv
	@echo "Installing dockdyn and its '$*' packages into $(VENV) (a few minutes, this once)"
	@$(INSTALL) -e '.[$*]'
	@touch $(VENV)/.stamp-core $@
