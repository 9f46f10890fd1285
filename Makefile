# Short names for the lab's own commands; `make help` lists them. The first use sets the machine up; later uses cost nothing.
PYTHON ?= python3
LAB = .venv/bin/lab
.DEFAULT_GOAL := help

# TTL_MS=50 on the command line becomes --ttl-ms "$TTL_MS": what a command does not know, the lab refuses. A value reaches the shell
# only through the environment, so neither make nor the shell runs what is inside it.
GIVEN := $(filter-out PYTHON,$(foreach name,$(.VARIABLES),$(if $(filter command line,$(origin $(name))),$(name))))
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
export $(GIVEN) PYTHON
flag = $(if $(value $(1)),--$(shell echo $(1) | tr A-Z_ a-z-) "$$$(1)")
only = $(foreach name,$(filter $(1),$(GIVEN)),$(call flag,$(name)))
all_but = $(foreach name,$(filter-out $(1),$(GIVEN)),$(call flag,$(name)))

unexport PYTHONDONTWRITEBYTECODE # each of the many processes would compile every module anew

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo; echo "OPTIONS are those of the lab's command, as in REQUESTS=500 for --requests 500:"
	@echo ".venv/bin/lab run --help explains each."

setup: ## install programs, the virtual environment, and packages
	@"$$PYTHON" -m lab.bootstrap $(call only,STAGE SCENARIO)

setup-all: # the same, with the servers of every stage
	@"$$PYTHON" -m lab.bootstrap --every-stage

setup-dev: ## the same as setup, with the tools for check and test
	@"$$PYTHON" -m lab.bootstrap --dev

libraries: setup ## install the locks of published libraries, for lab libraries
	@$(LAB) libraries install

scenario: setup ## one run: STAGE=lua [SCENARIO=rush ENGINE=docker OPTIONS]
	@exec $(LAB) run "$${SCENARIO:-rush}" $(call all_but,SCENARIO)

explore: setup ## decide every order of events: STAGE=uuid [OPTIONS]
	@$(LAB) explore $${STAGE:+"$$STAGE"} $(call all_but,STAGE) || [ $$? -eq 3 ]

play: setup ## pages on which you are the scheduler [STAGE=uuid OUT=]
	@set -f; exec $(LAB) play --open $$STAGE $(call all_but,STAGE)

class: setup ## a lesson of 45 minutes in the browser [HOST=0.0.0.0 PORT=8090]
ui: setup-all ## Locust's page, to start runs, and the live page [STAGE= PORT=8090]
ladder: setup-all ## every stage under rush, compared [REPEAT=5 OUT= OPTIONS]
matrix: $(if $(value STAGE),setup,setup-all) ## every stage under every scenario [STAGE=lua OUT=]
serve: setup ## serve the site of all runs to this machine [PORT=8088]
clean: setup ## remove all but the newest runs [KEEP=20]
doctor: setup ## list installed programs, and how to install missing programs
class ui serve clean doctor:
	@exec $(LAB) $@ $(all_but)
ladder matrix:
	@exec $(LAB) experiment $@ $(all_but)

experiment: setup-all ## vary one thing: NAME=ttl [STAGE="lua uuid" VALUES=1,2]
	@set -f; for stage in $$STAGE; do set -- "$$@" --stage "$$stage"; done; \
	  exec $(LAB) experiment $${NAME:+"$$NAME"} "$$@" $(call all_but,NAME STAGE)

report: setup ## write the site, and draw a run again [RUN=one]
	@exec $(LAB) report $${RUN:+"$$RUN"}

site: setup ## the documents and pages for any static host [OUT=reports/site]
	@.venv/bin/python -m pip install --quiet --require-hashes --requirement requirements/site.txt
	@$(LAB) play --out reports/play
	@.venv/bin/python -m tools.book --website "$${OUT:-reports/site}"

CHECKS = lint types contracts unit budget # side by side; each prints when it is done
AT_ONCE = --no-print-directory --jobs $(if $(filter output-sync,$(.FEATURES)),--output-sync)

check: setup-dev ## format, lint, types, import contracts, and tests without servers
	@$(MAKE) $(AT_ONCE) $(CHECKS)

budget: # the limit of lines of each folder: tools/budgets.toml
	@.venv/bin/python -m tools.budgets

lint: # format and lint
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/deptry --no-ansi app lab locustfiles pytest_lock_lab # each package that is imported is declared
	@.venv/bin/hadolint Dockerfile
	@.venv/bin/docker-compose --profile '*' config --quiet

types:
	@.venv/bin/mypy

contracts: # who may import whom
	@.venv/bin/lint-imports

unit: # the tests that need no server, but for those that start whole commands or draw whole sites
	@.venv/bin/pytest -q -n auto -m "not whole" tests/unit

documents: # the generated parts, pictures and charts
	@.venv/bin/python -m tools.book --check

WORKERS = $$(($$(getconf _NPROCESSORS_ONLN) * 3 / 2)) # three on two processors: more at a time made each other late

test: setup-dev ## check, documents, and tests with servers and a browser
	@$(MAKE) $(AT_ONCE) $(CHECKS) documents
	@.venv/bin/pytest -q -n $(WORKERS) --dist worksteal -m "whole or servers" tests/servers $$(grep -rl --include='*.py' mark.whole tests/unit)
	@.venv/bin/pytest -q -n $(WORKERS) --dist worksteal tests/browser # a Chromium that idles between tests of servers did not live

worth: setup-dev # what each part of the judge is worth: some minutes
	@.venv/bin/python -m tools.worth

LOCK = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

lock: setup-dev # the versions and hashes of all packages that the set-up installs; a version stays if pyproject.toml still allows it
	@$(LOCK) pyproject.toml --all-extras --output-file requirements/run.txt >/dev/null
	@$(LOCK) pyproject.toml --all-extras --group dev --output-file requirements/dev.txt >/dev/null
	@$(LOCK) --group site --output-file requirements/site.txt >/dev/null
	@$(LOCK) requirements/replica.in --constraint requirements/run.txt --output-file requirements/replica.txt >/dev/null

lowest: setup-dev # the tests of `make check` with the lowest versions that pyproject.toml allows
	@.venv/bin/uv venv --quiet --clear .venv/lowest
	@.venv/bin/uv pip install --quiet --python .venv/lowest --resolution lowest-direct --editable ".[all]"
	@.venv/bin/uv pip install --quiet --python .venv/lowest pytest pytest-xdist pyyaml
	@.venv/lowest/bin/python -m pytest -q -n auto -m "not whole" tests/unit

environments: setup-dev # the wheel in six environments: plain, lowest, Python 3.14 (on PATH), next to our names and Django, as uvx runs it
	@.venv/bin/pytest -q -m trial tests/servers/test_wheel.py

trial: worth lowest # the whole of what the tests have a sample of: some hours
	@.venv/bin/pytest -q -m trial tests
