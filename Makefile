# Short names for the lab's own commands; `make help` lists them. The first use sets the machine up; later uses cost nothing.
PYTHON ?= python3
LAB = .venv/bin/lab
.DEFAULT_GOAL := help

# The options of a run, as in lab/scenario/options.py; a test compares the two lists.
OPTIONS = REPLICAS USERS RATE CONNECTIONS REQUESTS TTL_MS WORK_MS STOCK RETRY_MS WAIT_MS PROCESSES SEED
KNOWN = STAGE SCENARIO ENGINE CLIENTS SWEEP VALUES REPEATS REPEAT RUN HOST PORT OUT KEEP PYTHON $(OPTIONS)
# A variable that no target reads would be ignored without a word, so it is refused.
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command line,$(origin $(name))),$(name)))
UNKNOWN := $(filter-out $(KNOWN),$(GIVEN))
$(if $(UNKNOWN),$(error unknown variable $(UNKNOWN); the variables are $(KNOWN)))

# What each target reads. A variable that another target reads would be ignored, so it is refused as well.
READS.setup = STAGE SCENARIO
READS.scenario = STAGE SCENARIO ENGINE $(OPTIONS)
READS.explore = STAGE CLIENTS
READS.play = STAGE OUT
READS.ladder = REPEAT OUT $(OPTIONS)
READS.matrix = STAGE SCENARIO REPEAT OUT
READS.sweep = STAGE SWEEP VALUES REPEATS OUT $(OPTIONS)
READS.ui = STAGE SCENARIO HOST PORT PROCESSES
READS.class = HOST PORT
READS.report = RUN
READS.site = OUT
READS.serve = PORT
READS.clean = KEEP
TARGETS = help setup setup-all setup-dev libraries scenario explore play class ladder matrix sweep ui report site serve clean doctor bench check lint types contracts unit budget documents test trial worth
GOALS := $(or $(MAKECMDGOALS),help)
NOWHERE := $(filter-out $(TARGETS),$(GOALS))
$(if $(NOWHERE),$(error there is no target $(NOWHERE); `make help` lists the targets))
READ := $(foreach goal,$(GOALS),$(READS.$(goal)))
HERE := $(filter ladder matrix sweep,$(GOALS)) # these run on this machine only, and must not do so if the environment has ENGINE
IGNORED := $(filter-out PYTHON $(READ) $(UNKNOWN),$(sort $(GIVEN) $(if $(HERE),$(if $(value ENGINE),ENGINE))))
$(if $(IGNORED),$(error make $(GOALS) does not read $(IGNORED)$(if $(READ),; it reads $(READ))))

# Some shells set HOST to the machine's name. That must not open the pages to the network.
ifeq ($(origin HOST),environment)
undefine HOST
endif

# Each of the many processes would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

# Values reach the shell only through the environment, as "$$NAME": neither make nor the shell runs what is inside a value.
PRESENT := $(foreach name,$(KNOWN),$(if $(filter undefined,$(origin $(name))),,$(name)))
$(foreach name,$(PRESENT),$(eval override $(name) := $$(value $(name))))
export $(PRESENT)

NAMED := $(join $(KNOWN:%=%=--),$(shell echo $(KNOWN) | tr A-Z_ a-z-)) # such as TTL_MS=--ttl-ms
flag = $(if $(value $(1)),$(patsubst $(1)=%,%,$(filter $(1)=%,$(NAMED))) "$$$(1)")
flags = $(foreach name,$(1),$(call flag,$(name)))

.PHONY: $(TARGETS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo; echo "OPTIONS, as in REQUESTS=500; .venv/bin/lab run --help explains each:"
	@echo $(OPTIONS) | fold -s -w 78

setup: ## install programs, the virtual environment, and packages
	@"$$PYTHON" -m lab.bootstrap $(call flags,STAGE SCENARIO)

setup-all: # the same, with the servers of every stage
	@"$$PYTHON" -m lab.bootstrap --every-stage

setup-dev: ## the same as setup, with the tools for check and test
	@"$$PYTHON" -m lab.bootstrap --dev

libraries: setup ## install the locks of published libraries, for lab libraries
	@$(LAB) libraries --install

scenario: setup ## one run: STAGE=lua [SCENARIO=rush ENGINE=docker OPTIONS]
	@exec $(LAB) run "$${SCENARIO:-rush}" --stage "$$STAGE" $(call flags,ENGINE $(OPTIONS))

explore: setup ## decide every order of events: STAGE=uuid [CLIENTS=2]
	@exec $(LAB) explore "$$STAGE" $(call flags,CLIENTS)

play: setup ## pages on which you are the scheduler [STAGE=uuid OUT=]
	@set -f; exec $(LAB) play --open $$STAGE $(call flags,OUT)

class: setup ## a lesson of 45 minutes in the browser [HOST=0.0.0.0 PORT=8090]
	@exec $(LAB) class $(call flags,HOST PORT)

ladder: setup-all ## every stage under rush, compared [REPEAT=5 OUT= OPTIONS]
	@exec $(LAB) ladder $(call flags,REPEAT OUT $(OPTIONS))

matrix: $(if $(value STAGE),setup,setup-all) ## every stage under every scenario [STAGE=lua OUT=]
	@exec $(LAB) matrix $(call flags,STAGE SCENARIO REPEAT OUT)

sweep: setup-all ## vary one parameter: SWEEP=ttl [STAGE="lua uuid" VALUES=1,2]
	@set -f; for stage in $$STAGE; do set -- "$$@" --stage "$$stage"; done; \
	  exec $(LAB) sweep "$$SWEEP" "$$@" $(call flags,VALUES REPEATS OUT $(OPTIONS))

ui: setup-all ## Locust's page, to start runs, and the live page [STAGE= PORT=8090]
	@exec $(LAB) ui $(call flags,STAGE SCENARIO HOST PORT PROCESSES)

report: setup ## write the site, and draw a run again [RUN=one]
	@exec $(LAB) report $${RUN:+"$$RUN"}

site: setup ## the documents and pages for any static host [OUT=reports/site]
	@$(LAB) play --out reports/play
	@.venv/bin/python -m tools.book --website "$${OUT:-reports/site}"

serve: setup ## serve the site of all runs to this machine [PORT=8088]
	@exec $(LAB) serve $(call flags,PORT)

clean: setup ## remove all but the newest runs [KEEP=20]
	@exec $(LAB) clean $(call flags,KEEP)

doctor: setup ## list installed programs, and how to install missing programs
	@exec $(LAB) doctor

bench: setup-dev ## measure what the lab and the locks cost, as ratios
	@exec $(LAB) bench

CHECKS = lint types contracts unit budget # side by side; each prints when it is done
AT_ONCE = --no-print-directory --jobs $(if $(filter output-sync,$(.FEATURES)),--output-sync)

check: setup-dev ## format, lint, types, import contracts, and tests without servers
	@$(MAKE) $(AT_ONCE) $(CHECKS)

budget: # the limit of lines of each folder: tools/budgets.toml
	@.venv/bin/python -m tools.budgets

lint: # format and lint
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .

types:
	@.venv/bin/mypy

contracts: # who may import whom
	@.venv/bin/lint-imports

unit: # the tests that need no server, but for those that start whole commands or draw whole sites
	@.venv/bin/pytest -q -n auto -m "not whole" tests/unit

documents: # the generated parts, pictures and charts
	@.venv/bin/python -m tools.book --check

test: setup-dev ## check, documents, and tests with servers and a browser
	@$(MAKE) $(AT_ONCE) $(CHECKS) documents
	@.venv/bin/pytest -q -n 3 --dist worksteal -m "whole or servers" tests/servers $$(grep -rl --include='*.py' mark.whole tests/unit) # more at a time made each other late
	@.venv/bin/pytest -q -n 3 --dist worksteal tests/browser # a Chromium that idles between tests of servers did not live

worth: setup-dev # what each part of the judge is worth: some minutes
	@.venv/bin/python -m tools.worth judge

trial: worth # the whole of what the tests have a sample of: some hours
	@.venv/bin/pytest -q -m trial tests
