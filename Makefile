# Thin verbs over the lab's own command; `make help` lists them. The first use sets the machine up, later ones cost nothing.
PYTHON ?= python3
LAB = .venv/bin/lab
.DEFAULT_GOAL := help

# A variable that nobody reads would be a wish that nobody hears.
OPTIONS = REPLICAS USERS RATE REQUESTS TTL_MS WORK_MS RETRY_MS WAIT_MS PROCESSES SEED
KNOWN = STAGE SCENARIO ENGINE SWEEP VALUES REPEATS RUN PORT OUT KEEP PYTHON $(OPTIONS)
GIVEN = $(foreach name,$(.VARIABLES),$(if $(filter command line,$(origin $(name))),$(name)))
UNKNOWN = $(filter-out $(KNOWN),$(GIVEN))
$(if $(UNKNOWN),$(error unknown variable $(UNKNOWN); the variables are $(KNOWN)))

lower = $(subst _,-,$(shell printf %s '$(1)' | tr A-Z a-z))
GIVEN_OPTIONS = $(foreach name,$(OPTIONS),$(if $($(name)),--$(call lower,$(name)) '$($(name))'))

.PHONY: help setup setup-all setup-dev scenario ladder matrix sweep ui report serve compare clean doctor bench check lint types contracts unit test

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## what the lab needs: system programs, virtual environment, locked packages
	@$(PYTHON) -m lab.bootstrap $(if $(STAGE),--stage '$(STAGE)') $(if $(SCENARIO),--scenario '$(SCENARIO)')

setup-all: # with the servers of every stage
	@$(PYTHON) -m lab.bootstrap --every-stage

setup-dev: ## the same, with the tools for check and test
	@$(PYTHON) -m lab.bootstrap --dev

scenario: setup ## one run: STAGE=lua [SCENARIO=rush ENGINE=docker REQUESTS= USERS= REPLICAS= TTL_MS= WORK_MS= RETRY_MS= WAIT_MS= RATE= SEED=]
	@$(LAB) run $(or $(SCENARIO),rush) --stage '$(STAGE)' $(if $(ENGINE),--engine '$(ENGINE)') $(GIVEN_OPTIONS)

ladder: setup-all ## every stage, compared: charts and table
	@$(LAB) ladder $(if $(OUT),--out '$(OUT)') $(GIVEN_OPTIONS)

matrix: setup-all ## every stage under every scenario, against what was expected
	@$(LAB) matrix $(if $(OUT),--out '$(OUT)')

sweep: setup-dev ## one parameter over many values: SWEEP=retry or ttl [STAGE="lua watchdog" VALUES=1,2,5 REPEATS= REQUESTS= SEED=]
	@$(LAB) sweep '$(SWEEP)' $(foreach name,$(STAGE),--stage '$(name)') $(if $(VALUES),--values '$(VALUES)') \
	  $(if $(REPEATS),--repeats '$(REPEATS)') $(if $(OUT),--out '$(OUT)') $(GIVEN_OPTIONS)

ui: setup-all ## the lab in the browser: Locust's own page, and the live page beside it [STAGE= SCENARIO= PORT=8089 PROCESSES=]
	@$(LAB) ui $(if $(STAGE),--stage '$(STAGE)') $(if $(SCENARIO),--scenario '$(SCENARIO)') \
	  $(if $(PORT),--port '$(PORT)') $(if $(PROCESSES),--processes '$(PROCESSES)')

compare: setup ## lay runs over each other: RUN="one two"
	@$(LAB) compare $(RUN) $(if $(OUT),--out '$(OUT)')

report: setup ## the site of all runs, reports/index.html, and a run drawn again, or several compared [RUN="one two"]
	@$(LAB) report $(RUN) $(if $(OUT),--out '$(OUT)')

serve: setup ## the site of all runs at an address of this machine [PORT=8088]
	@$(LAB) serve $(if $(PORT),--port '$(PORT)')

clean: setup ## remove all but the newest runs [KEEP=20]
	@$(LAB) clean $(if $(KEEP),--keep '$(KEEP)')

doctor: setup ## what is installed, what is missing, how to get it
	@$(LAB) doctor

bench: setup-dev ## the lab's own costs, as ratios side by side
	@$(LAB) bench

check: setup-dev ## format, lint, types, import contracts, unit tests, side by side: under a minute
	@$(MAKE) --no-print-directory --jobs $(if $(filter output-sync,$(.FEATURES)),--output-sync) lint types contracts unit

lint: # format and lint
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .

types:
	@.venv/bin/mypy

contracts: # who may import whom
	@.venv/bin/lint-imports

unit: # the tests that need no server
	@.venv/bin/pytest -q -n auto tests/unit

test: check ## all of check, and the tests with real servers and a real browser
	@.venv/bin/pytest -q -n 3 --dist worksteal tests/servers tests/browser
