# The front door: `make help` lists everything. Each target sets up what it needs first.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

EXPERIMENT ?= quick
TELEMETRY ?= otel-manual
TOPOLOGY ?= mesh
SIDECAR ?= none
ARGS ?=

LAB := .venv/bin/lab

##@ Measure

experiment: setup ## run an experiment and report on it: EXPERIMENT=quick ARGS="--set repetitions=5"
	@$(LAB) experiment $(EXPERIMENT) $(ARGS)

experiments: setup-python ## list the experiments, and how long each takes here
	@$(LAB) list

report: setup-python ## write the newest result's report again
	@$(LAB) report $(ARGS)

doctor: setup-python ## say what is wrong with this machine for measuring, and how to mend it
	@$(LAB) doctor

##@ Play

up: setup ## start the lab to look at: TELEMETRY=otel-manual TOPOLOGY=mesh SIDECAR=none
	@$(LAB) up --telemetry $(TELEMETRY) --topology $(TOPOLOGY) --sidecar $(SIDECAR)

down: setup-python ## stop and remove what is running
	@$(LAB) down

##@ Test

test: setup-test ## run every test and linter, stopping at the first stage that fails
	@scripts/test.sh lint images go java python

test-java: setup ## only the services: formatter check and JUnit, in a container
	@scripts/test.sh java

test-go: setup ## only the observer: vet, staticcheck and go test, in a container
	@scripts/test.sh go

test-python: setup-test ## only pytest: ARGS="tests/unit -k images"
	@PYTEST_ARGS="$(ARGS)" scripts/test.sh python

lint: setup-python ## only Python's linters: ruff and mypy
	@scripts/test.sh lint

##@ House

setup: ## set up what is missing: Python packages, Docker engine, Compose
	@scripts/setup.sh

clean: ## remove containers, images, caches and .venv; results stay
	@scripts/clean.sh

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup-python:
	@scripts/setup.sh python

setup-test:
	@scripts/setup.sh test

.PHONY: $(shell awk -F: '/^[a-z-]+:/ { print $$1 }' $(firstword $(MAKEFILE_LIST)))
