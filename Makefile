# `make help` lists all targets. Each target first sets up what it needs.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
# Where Python may not keep compiled modules, every process compiles all that it imports, for seconds.
unexport PYTHONDONTWRITEBYTECODE

EXPERIMENT ?= quick
ARGS ?=

# `make check LAB=2` names an exercise; everywhere else LAB is the command.
EXERCISE := $(if $(filter command environment,$(origin LAB)),$(LAB))
override LAB := .venv/bin/lab

##@ Measure

experiment: setup ## run an experiment and write its report: make experiment EXPERIMENT=quick ARGS="--set repetitions=8 --set budget_min=20"
	@$(LAB) experiment $(EXPERIMENT) $(ARGS)

experiments: setup-python ## list the experiments and how long each takes on this machine
	@$(LAB) list

bench: setup ## which rate does the open-loop generator hold beside a proxy? 300 to 2,400 requests/s; exit code 1 below 1,200
	@# Exit code 6: trials were rejected. The check says whether the generator was too slow in them.
	@$(LAB) experiment proxy-generator $(ARGS) || [ $$? -eq 6 ]
	@$(LAB) check generator

report: setup-python ## write the report of a result again (default: the newest): make report ARGS=results/quick/latest
	@$(LAB) report $(ARGS)

doctor: setup-python ## check whether this machine is fit for measuring; each problem with its fix
	@$(LAB) doctor

##@ Explore

up: setup ## start or change a system to explore, with a light load: make up TELEMETRY=zipkin FAULT=application-latency
	@$(LAB) up $(ARGS) $(if $(TELEMETRY),--set 'telemetry=$(TELEMETRY)') \
	  $(if $(TOPOLOGY),--set 'topology=$(TOPOLOGY)') $(if $(SIDECAR),--set 'sidecar=$(SIDECAR)') \
	  $(if $(SAMPLING),--set 'environment.OTEL_TRACES_SAMPLER="parentbased_traceidratio"' \
	    --set 'environment.OTEL_TRACES_SAMPLER_ARG="$(SAMPLING)"' \
	    --set 'environment.MANAGEMENT_TRACING_SAMPLING_PROBABILITY="$(SAMPLING)"') \
	  $(if $(FAULT),--fault '$(FAULT)')

down: setup-python ## stop and remove all containers of the lab
	@$(LAB) down

notebooks: setup-notebooks ## open the notebooks in JupyterLab, on this machine only; Ctrl-C ends it
	@scripts/notebooks.sh

##@ Learn

check: setup-python ## grade your newest run and your answers of an exercise: make check LAB=2
	@$(LAB) check exercise $(EXERCISE) $(RUN) $(if $(ANSWERS),--answers '$(ANSWERS)') $(ARGS)

##@ Test

test: setup-test ## run all linters and tests; stop at the first stage that fails
	@scripts/test.sh lint images go java all_images python

test-java: setup ## only the services, in a container: formatter check and JUnit
	@scripts/test.sh java

test-go: setup ## only the Go programs, in a container: vet, staticcheck and go test
	@scripts/test.sh go

test-python: setup-test ## only pytest: make test-python ARGS="tests/unit -k images"
	@PYTEST_ARGS="$(ARGS)" scripts/test.sh python

lint: setup-python ## only the Python linters: ruff and mypy
	@scripts/test.sh lint

##@ Maintain

setup: ## install or start what is missing; without a network: make setup BUNDLE=FILE
	@scripts/setup.sh run $(if $(BUNDLE),'$(BUNDLE)')

clean: ## remove containers, images, caches and .venv; keep results
	@scripts/clean.sh

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup-python:
	@scripts/setup.sh python

setup-notebooks:
	@scripts/setup.sh notebooks

setup-test:
	@scripts/setup.sh test

.PHONY: $(shell awk -F: '/^[a-z-]+:/ { print $$1 }' $(firstword $(MAKEFILE_LIST)))
