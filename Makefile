# `make` runs the whole workflow, `make help` lists the rest.
#
# Nothing is decided here: scripts/in-env chooses Nix or the host and brings the tools, Snakemake does
# the work.

in_env := scripts/in-env

# Given on the command line or in the environment; each is handed to Snakemake only when it is set,
# as it was written: neither make nor the shell runs what stands in it.
as_written = '$(subst ','\'',$(value $1))'
config := $(if $(value PRESET),preset=$(call as_written,PRESET)) \
  $(if $(value FIGURE),figure=$(call as_written,FIGURE))
run_arguments := $(if $(value PAPER),$(call as_written,PAPER)) \
  $(if $(strip $(config)),--config $(config))

.PHONY: run test test-long bench lint check lab notebook lock clean help

# A killed make must take the measurement with it, hence exec and the signal at the parent's death.
run: ## measure what is missing and write reports/index.html
	@command -v setpriv >/dev/null || { \
	  echo "benchbook: setpriv is absent (package util-linux); Benchbook measures on Linux only" >&2; \
	  exit 1; }
	@exec setpriv --pdeathsig KILL $(in_env) snakemake $(run_arguments)

test: ## the tests that take seconds
	@exec $(in_env) --with test pytest -m "not long" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --junitxml=build/tests.xml $(PYTEST)

test-long: ## the tests that take minutes, and a table of all that was broken on purpose
	@exec $(in_env) --with test pytest -m "long or hostile" --junitxml=build/tests-long.xml $(PYTEST)

bench: ## measure Benchbook itself: ratios and seconds; tests nothing
	@exec $(in_env) benchbook bench

lint: ## all linters and the type checker; changes no file
	@exec $(in_env) --with test scripts/lint

check: ## the linters, and the tests that start no program (as `nix flake check`)
	@exec $(in_env) --with test scripts/check

lab: notebook ## the same as make notebook

notebook: ## JupyterLab on notebooks/
	@exec $(in_env) --with lab jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks

lock: ## remake the locks from pyproject.toml (needs uv and network; LOCK=--upgrade for newer versions)
	@exec scripts/lock $(LOCK)

clean: ## remove generated files; measured runs in data/runs stay
	rm -rf build results reports

help: ## this list
	@echo "make [PRESET=tiny|quick|paper] [PAPER=id] [FIGURE=paper/figure]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile
