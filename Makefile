# The commands of the project. `make test` is what must pass before a change lands.

CARGO ?= cargo
# A target without a standard library: if the core compiles for it, the core needs none.
BARE_TARGET := thumbv7m-none-eabi

.PHONY: test format lint tools etcd redis postgres promtool browser engines unit laboratory agents networks docs bare soak exhaustive faults mutants bench clean

test: format lint unit docs bare
	@echo "make test: all checks passed"

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# Installs packages, on Debian and as root.
INSTALL = if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
		apt-get install -y -q $(1) && exit 0; \
		apt-get update -q && apt-get install -y -q $(1) && exit 0; \
	fi

# What the tests on failing networks and slow disks need beyond Rust. Without it, or without root, they are skipped, unless
# BELLWETHER_REQUIRE_NET=1.
NET_TOOLS := nftables iproute2 strace
tools:
	@if command -v ip >/dev/null && command -v nft >/dev/null && command -v strace >/dev/null; then exit 0; fi; \
	$(call INSTALL,$(NET_TOOLS)); \
	echo "make tools: ip, nft or strace is missing and cannot be installed: tests on failing networks and slow disks will be skipped"; \
	[ "$$BELLWETHER_REQUIRE_NET" != 1 ]

# What the figures are set beside.
ETCD := etcd-server etcd-client
etcd:
	@if command -v etcd >/dev/null && command -v etcdctl >/dev/null; then exit 0; fi; \
	$(call INSTALL,$(ETCD)); \
	echo "make etcd: etcd or etcdctl is missing and cannot be installed"; \
	exit 1

redis:
	@if command -v redis-server >/dev/null; then exit 0; fi; \
	$(call INSTALL,redis-server); \
	echo "make redis: redis-server is missing and cannot be installed"; \
	exit 1

# A store that is given a fence and grants names, and a pooler before it. No server of it is started but those of the tests.
postgres:
	@has() { command -v $$1 >/dev/null || ls /usr/lib/postgresql/*/bin/$$1 >/dev/null 2>&1 || [ -e /usr/sbin/$$1 ]; }; \
	if has psql && has initdb && has postgres && has pgbouncer; then exit 0; fi; \
	$(call INSTALL,postgresql pgbouncer); \
	echo "make postgres: psql, initdb, postgres or pgbouncer is missing and cannot be installed"; \
	exit 1

# It tries the alerts. No server of it is started.
promtool:
	@if command -v promtool >/dev/null; then exit 0; fi; \
	$(call INSTALL,--no-install-recommends prometheus); \
	echo "make promtool: promtool is missing and cannot be installed"; \
	exit 1

# What shows the pages, and what looks for barriers in them. It is a part of the tests, not of the product.
AXE := target/axe/node_modules/axe-core/axe.min.js
browser:
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null || ! command -v npm >/dev/null; then \
		( $(call INSTALL,chromium chromium-driver npm) ); \
	fi; \
	[ -e $(AXE) ] || npm install --silent --no-audit --no-fund --prefix target/axe axe-core@4; \
	command -v chromium >/dev/null && command -v chromedriver >/dev/null && [ -e $(AXE) ] && exit 0; \
	echo "make browser: chromium, chromedriver or axe-core is missing and cannot be installed"; \
	exit 1

# Exclusive leadership beside etcd and Redis, for a moment, elections on engines of other makes, alerts, pages in a browser, and fences in
# stores that others make. `make bench` has the long form. Of the whole workspace, although it is about two crates: so it needs what
# `make test` has built, and nothing else.
engines: etcd redis postgres promtool browser
	promtool check rules packaging/prometheus/alerts.yml
	cd packaging/prometheus && promtool test rules alerts_test.yml
	BELLWETHER_REQUIRE_ENGINES=1 $(CARGO) test --locked --workspace --bench engines
	$(CARGO) test --locked --workspace --lib grants_in_a_second -- --nocapture
	BELLWETHER_REQUIRE_ENGINES=1 $(CARGO) test --locked --workspace --test arbiters
	BELLWETHER_REQUIRE_ENGINES=1 BELLWETHER_REQUIRE_PYTHON=1 $(CARGO) test --locked --workspace --test agents clients::fences
	BELLWETHER_REQUIRE_BROWSER=1 $(CARGO) test --locked --workspace --test agents browser:: -- --test-threads 2

# The simulator's tests compute, and those of agents and networks wait, so they run side by side. What computes gives way: no agent
# is late for want of a processor. Together the three are all tests: see `tidy`.
# Examples are not built here: `lint` compiles them, and what is shown to users is run by a test.
unit: tools
	$(CARGO) test --locked --workspace --tests --no-run
	$(MAKE) -j3 laboratory agents networks
	$(CARGO) test --locked --workspace --doc

laboratory:
	nice -n 19 $(CARGO) test --locked --workspace --test sim

# More of them at once than there are processors: mostly they wait.
agents:
	RUST_TEST_THREADS=6 $(CARGO) test --locked --workspace --lib --bins --bench '[!s]*' --test '[!ns]*' --test 's[!i]*'

networks:
	$(CARGO) test --locked --workspace --test netns

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

bare:
	rustup target add $(BARE_TARGET)
	$(CARGO) check --locked -p bellwether-proto --target $(BARE_TARGET)

# The long counts: resumes where it was stopped; seeds are in its report.
soak:
	$(CARGO) run --locked --release -p bellwether-sim --example soak -- --runs 10000
	$(CARGO) run --locked --release -p bellwether-sim --example soak -- --runs 100000 --only promised
	$(CARGO) run --locked --release -p bellwether-sim --example soak -- --runs 100000 --only restricted
	$(CARGO) run --locked --release -p bellwether-sim --example soak -- --runs 1000000 --only promised-exclusive
	$(CARGO) run --locked --release -p bellwether-sim --example exclusive -- --walks 100000
	$(CARGO) run --locked --release -p bellwether-sim --example exclusive -- --walks 10000 --length 300 --changes 20 --lulls 12
	$(CARGO) run --locked --release -p bellwether-sim --example exclusive -- --walks 10000 --course ""
	BELLWETHER_TEST_SUITES=10 $(CARGO) test --locked --workspace --test exclusive -- --nocapture registers_pass
	BELLWETHER_TEST_PAUSES=1000 $(CARGO) test --locked --release -p bellwether --test exclusive -- --nocapture after_a_pause
	BELLWETHER_TEST_TRIALS=1000 $(CARGO) test --locked --release -p bellwether-cli --test agents -- commands_of_real_agents
	BELLWETHER_TEST_CALLS=100000 $(CARGO) test --locked --release -p bellwether-cli --test agents -- --nocapture what_is_read_from_a_majority
	$(MAKE) exhaustive
	$(MAKE) faults

# A thousand faults of real agents on networks of their own, and three minutes on each network that loses packets: 40 minutes.
faults: tools
	[ -e /usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 ] || apt-get install -y -q libfaketime || true
	$(CARGO) test --locked --workspace --test netns -- a_thousand_faults changes_of_leader ten_minutes a_wrong_clock

# Every state of three nodes with a crash, a recovery and a loss, if the algorithm is to bear one; with links that fail instead, if it
# is told of them. Of agents: a crash and a command, a return, two commands.
exhaustive:
	$(CARGO) build --locked --release -p bellwether-cli
	target/release/bellwether check bully-fd --exhaustive --expiries 8
	target/release/bellwether check lfa --exhaustive --expiries 6
	target/release/bellwether check async-bully --exhaustive
	target/release/bellwether check bully --exhaustive
	target/release/bellwether check fjr --exhaustive
	target/release/bellwether check invitation --exhaustive
	target/release/bellwether check souto-invitation --exhaustive
	target/release/bellwether check phi --exhaustive --crashes 0 --lies 2
	target/release/bellwether check psi --exhaustive
	target/release/bellwether check fb-omega --exhaustive
	target/release/bellwether check fb-omega --exhaustive --expiries 1
	target/release/bellwether check fb-omega --exhaustive --lies 0 --expiries 4
	target/release/bellwether check fb-omega --exhaustive --nodes 2 --recoveries 1 --lies 0 --expiries 2
	target/release/bellwether check fjr --agent --exhaustive
	target/release/bellwether check fjr --agent --exhaustive --recoveries 1 --commands 0 --early 0
	target/release/bellwether check fjr --agent --exhaustive --crashes 0 --commands 2 --early 0
	target/release/bellwether check fb-omega --agent --exhaustive
	$(CARGO) run --locked --release -p bellwether-sim --example exclusive

# Which of a sample of small bugs the tests notice: resumes where it was stopped. A bug may make a test take all memory.
mutants:
	@$(CARGO) mutants --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-mutants --version 27.1.0
	ulimit -v 8388608; $(CARGO) run --locked -p bellwether-sim --example mutants -- --out docs/reference/mutants.md

# The figures, as ratios in one run, and what became worse since the page was written last. `make test` runs every benchmark
# for a moment.
bench: etcd redis
	$(CARGO) run --locked -p bellwether-sim --example benchmarks -- --out docs/reference/figures.md

clean:
	$(CARGO) clean
