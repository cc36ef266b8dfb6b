# make run    installs what is missing and opens the window
# make test   lint, types, layers and all tests
PYTHON := .venv/bin/python
export QT_LOGGING_RULES ?= qt.qpa.wayland.warning=false

# How much `make attack` does.
INPUTS ?= 1000000
PLANS ?= 10000
KILLS ?= 1000
LINES ?= 10000
BREAKS ?= 4
ACTIONS ?= 100000
EDITS ?= 10000
LAWS ?= 400
PREVIEWS ?= 1000
DECIDED ?= 100
BARS ?= 200
SECONDS ?= 1000000
SEED ?= 1

.PHONY: help setup setup-test run test lint unit golden score mutants attack bench shots

help:
	@echo "make setup   .venv with the program in it"
	@echo "make run     the window; without a display the sample add-nodes into out/"
	@echo "make test    lint, types, layer contracts, all tests"
	@echo "make lint    only ruff, mypy, import contracts, shellcheck"
	@echo "make golden  writes tests/golden/results anew: look at the difference before you commit it"
	@echo "make score   errors, ranges and skill against what running clusters showed; ACCEPT=\"why\" sets the headlines to beat"
	@echo "make mutants plants single changes into the program: how many of 300 no test notices"
	@echo "make attack  mutated inputs, extreme plans, edits, actions in the window, kills, console lines; INPUTS=1000 PLANS=20 EDITS=100 LAWS=8"
	@echo "             ACTIONS=100 KILLS=20 BREAKS=1 (or all) PREVIEWS=20 DECIDED=2 BARS=20 SECONDS=60 SEED=7 say how many"
	@echo "make bench   what is timed, side by side with its baseline"
	@echo "make shots   screenshots of the main states into shots/"

setup:
	@packaging/setup.sh run

setup-test:
	@packaging/setup.sh test

run: setup
	@packaging/run.sh

test: lint unit

lint: setup-test
	.venv/bin/ruff check app tests packaging
	.venv/bin/ruff format --check app tests packaging
	.venv/bin/lint-imports --no-cache
	.venv/bin/mypy
	shellcheck packaging/*.sh .ci/run

# Else each command that a test starts would compile its modules anew. Beside the sources, where set-up has put
# those of the program and of its packages: a folder of their own costs each worker half a minute on a fresh clone.
unit: export PYTHONDONTWRITEBYTECODE =
unit: export PYTHONPYCACHEPREFIX =
# A window that waits for its manager, or a process for its turn, may wait too long beside another worker:
# what failed is told, and decides when it fails alone too.
unit: PYTEST = QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -q
unit: ALONE = echo "once more, alone:" && $(PYTEST) --last-failed --last-failed-no-failures none
unit: setup-test
	$(PYTEST) -n auto --dist worksteal || { [ $$? -eq 1 ] && $(ALONE); }

golden: setup-test
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/golden/rewrite.py

score: setup-test
	PYTHONPATH=app:tests QT_QPA_PLATFORM=offscreen $(PYTHON) -m reality.score $(if $(ACCEPT),"$(ACCEPT)")

mutants: setup-test
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/mutants/run.py

attack: setup-test
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/attack/inputs.py --inputs $(INPUTS) --seconds $(SECONDS) --seed $(SEED)
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/attack/plans.py --plans $(PLANS) --seconds $(SECONDS) --seed $(SEED)
	$(PYTHON) tests/edits/test_hostile_names.py $(EDITS)
	NDBPLAN_LAW_PLANS=$(LAWS) NDBPLAN_LAW_LOADS=$(LAWS) NDBPLAN_DRAWN_LOADS=$(LAWS) QT_QPA_PLATFORM=offscreen \
		$(PYTHON) -m pytest -q -n auto tests/checks/test_laws.py tests/simulate/test_laws.py tests/advise/test_sustained.py
	NDBPLAN_EXAMPLES=$(LAWS) QT_QPA_PLATFORM=offscreen $(PYTHON) -m pytest -q -n auto -m hypothesis tests
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/attack/monkey.py --actions $(ACTIONS) --seconds $(SECONDS) --seed $(SEED)
	$(PYTHON) tests/attack/previews.py --plans $(PREVIEWS) --by-command 20 --seed $(SEED)
	$(PYTHON) tests/attack/deciding.py --plans $(DECIDED) --seconds $(SECONDS) --seed $(SEED)
	$(PYTHON) tests/attack/error_bars.py --seeds $(BARS)
	$(PYTHON) tests/attack/lines.py --lines $(LINES) --seed $(SEED)
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/attack/kills.py --kills $(KILLS) --seconds $(SECONDS) --seed $(SEED)
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/attack/acts.py --breaks $(BREAKS) --seconds $(SECONDS) --seed $(SEED)

bench: setup-test
	QT_QPA_PLATFORM=offscreen $(PYTHON) tests/benchmarks/collect.py

shots: setup-test
	QT_QPA_PLATFORM=offscreen $(PYTHON) packaging/shots.py shots
