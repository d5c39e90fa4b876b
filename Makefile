# Two commands matter: `make demo` and `make test`. Each sets up what it needs on a fresh machine.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
TERM_PEERS := .venv-peers-terms
CRAWL_PEERS := .venv-crawlers
RELEASE := .venv-release
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test
SERVERS := solr or browser or postgres or process
DEMO_FLAGS = $(if $(CHECK),--check) $(if $(PORT),--port $(PORT)) $(if $(SITE_PORT),--site-port $(SITE_PORT))

.PHONY: install demo demo-change check quick-tests test standard-tests release-check package-checks all-tests test-shards cluster faults lint docs-site format clean browser chinese-font pictures debian-python docs check-release check-image dist lock size

demo: $(STAMP)  ## crawl, extract, mine, index and search three bundled news sites; CHECK=1 does not wait for you
	$(BIN)/plumb demo $(DEMO_FLAGS)

demo-change: $(STAMP)  ## change one demo page on disk and show when each stage was done with it
	$(BIN)/plumb demo --change $(DEMO_FLAGS)

check: $(TEST_STAMP)  ## before every commit: lint, and all short tests that need no server, browser or database
	@$(MAKE) --no-print-directory -j2 lint quick-tests

quick-tests: $(TEST_STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not ($(SERVERS) or slow or exhaustive)"

test: $(TEST_STAMP) browser debian-python  ## everything that CI runs, 12 to 20 minutes on two cores
	@$(MAKE) --no-print-directory -j2 lint standard-tests

standard-tests: $(TEST_STAMP)
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder -m "not exhaustive"

release-check:  ## before a release: all tests and faults, the release, the image and the speed; hours
	$(MAKE) lint docs-site all-tests
	$(MAKE) -j2 faults package-checks
	$(MAKE) bench-speed ARGS=--short

package-checks:
	$(MAKE) check-release
	$(MAKE) check-image

all-tests: $(TEST_STAMP) browser debian-python $(PEERS)/.installed $(TERM_PEERS)/.installed $(CRAWL_PEERS)/.installed
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder --durations=30

check-release: $(RELEASE)/.installed debian-python  ## builds the release twice, installs and runs it outside the checkout, as a table
	$(RELEASE)/bin/python deploy/check_release.py

check-image: $(RELEASE)/.installed  ## the instructions of deploy/Containerfile without a container engine, the demo in the result, and the upgrade of an earlier image; needs root
	$(call apt,command -v bwrap >/dev/null,bubblewrap)
	$(call apt,command -v debootstrap >/dev/null,debootstrap)
	$(RELEASE)/bin/python deploy/check_image.py --upgrade $(ARGS)

dist: $(RELEASE)/.installed  ## wheel, source distribution and SBOM of the last commit, in dist/
	$(RELEASE)/bin/python deploy/build_dist.py

lock: $(RELEASE)/.installed  ## requirements.lock: the pins of constraints.txt that an installation needs, with hashes
	$(RELEASE)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		$(foreach extra,meaning postgres cluster s3,--extra $(extra)) -c constraints.txt setup.cfg -o requirements.lock

$(RELEASE)/.installed: deploy/release-tools.txt | $(VENV)/bin/python  # no part of the program
	$(BIN)/python -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@

faults: $(TEST_STAMP)  ## all faults on real processes, as a table; ARGS='--only kill9,solr --short' for some
	$(BIN)/python -m tests.faults.table $(if $(DATA),--data $(DATA)) $(ARGS)

cluster: $(TEST_STAMP)  ## a vertical past one machine as real processes on this one; ARGS='--check' does not wait for you
	$(BIN)/python -m tests.cluster $(ARGS)

test-shards: $(TEST_STAMP)  ## the search tests on an index of two shards on two nodes
	PLUMB_TEST_SHARDS=2 $(BIN)/python -m pytest tests/search_ui tests/indexer

lint: $(TEST_STAMP)  ## style, types, import contracts, names and phrases, size of packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python deploy/check_language.py
	$(BIN)/python deploy/check_size.py

size: $(TEST_STAMP)  ## counts of the product beside those of an earlier commit, also in benchmarks/out/size.jsonl
	$(BIN)/python deploy/check_size.py --since $(or $(SINCE),9161568a)

format: $(TEST_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

install: $(STAMP)  ## the program with semantic search
	-@$(BIN)/python -m pipeline.embedding.models
	@echo "Plumbline is ready. Next: $(BIN)/plumb up for sites of your own, or make demo (README.md)"

docs: $(TEST_STAMP)  ## the generated reference pages: settings, commands, outcomes, licences
	PYTHONPATH=. $(BIN)/python deploy/reference.py settings > docs/reference/settings.md
	PYTHONPATH=. $(BIN)/python deploy/reference.py commands > docs/reference/commands.md
	PYTHONPATH=. $(BIN)/python deploy/reference.py outcomes > docs/reference/outcomes.md
	PYTHONPATH=. $(BIN)/python deploy/licences.py

pictures: $(TEST_STAMP) browser chinese-font  ## screenshots of all pages of the demo, in docs/pictures
	$(BIN)/python deploy/pictures.py

docs-site: $(TEST_STAMP)  ## the documentation as a site, in build/site; fails on a broken link
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench-%: $(TEST_STAMP)  ## make bench-NAME [DATA=DIR] [ARGS='--option ...']: a table, and benchmarks/out/NAME.jsonl
	$(BIN)/python -m benchmarks.$* $(if $(DATA),--data $(DATA)) $(ARGS)

bench-extract bench-documents bench-speed: $(PEERS)/.installed

$(PEERS)/.installed: benchmarks/peers/requirements.txt | $(VENV)/bin/python  # the extractors and readers that ours is compared with
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip  # 23.2 fails on lxml[html_clean]
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check rs-trafilatura==0.1.1 || echo "rs-trafilatura needs a Rust compiler: its rows will be missing"
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@ || echo "not all peers could be installed: rows will be missing"

bench-speed: $(CRAWL_PEERS)/.installed

$(CRAWL_PEERS)/.installed: benchmarks/peers/crawlers.txt | $(VENV)/bin/python  # the crawlers that ours is compared with
	$(BIN)/python -m venv $(CRAWL_PEERS)
	$(CRAWL_PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@ || echo "not all peers could be installed: rows will be missing"

bench-terms: $(TERM_PEERS)/.installed

$(TERM_PEERS)/.installed: benchmarks/peers/terms.txt | $(VENV)/bin/python  # the miners that ours is compared with
	$(BIN)/python -m venv $(TERM_PEERS)
	$(TERM_PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@ || echo "not all peers could be installed: rows will be missing"

# $(call apt,CHECK,PACKAGES): if the shell command CHECK fails, root installs PACKAGES; others read what to install.
define apt
@$(1) || if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq $(2) >/dev/null; \
	else echo "missing: apt-get install $(2)  (as root; then run make again)"; exit 1; fi
endef

browser:  ## Debian's chromium for the browser tests
	$(call apt,command -v chromium >/dev/null,chromium)
	$(call apt,command -v chromium-headless-shell >/dev/null,chromium-headless-shell)

chinese-font:  ## a Chinese font for the screenshots
	$(call apt,fc-list :lang=zh 2>/dev/null | grep -q .,fontconfig fonts-noto-cjk)

debian-python:  ## Debian's own Python with its venv, the oldest supported one: a test installs with it
	$(call apt,/usr/bin/python3 -c 'import ensurepip' 2>/dev/null,python3-venv)

clean:
	rm -rf $(VENV) $(PEERS) $(TERM_PEERS) $(CRAWL_PEERS) $(RELEASE) build dist demo-data *.egg-info benchmarks/out

$(VENV)/bin/python:
	@$(PYTHON) deploy/check_python.py
	$(PYTHON) -m venv $(VENV)

$(STAMP): setup.cfg constraints.txt | $(VENV)/bin/python
	@$(BIN)/python deploy/install.py '.[meaning]'
	@touch $@

$(TEST_STAMP): setup.cfg constraints.txt | $(VENV)/bin/python
	@$(BIN)/python deploy/install.py '.[test]'
	@$(BIN)/python -m pytest --collect-only -q >/dev/null || true  # compiles the tests once, not in six processes at a time
	@touch $@ $(STAMP)
