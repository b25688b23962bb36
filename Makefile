# The commands of the project. `make test` is what must pass before a change lands.

CARGO ?= cargo
# A target without a standard library: if the core compiles for it, the core needs none.
BARE_TARGET := thumbv7m-none-eabi

.PHONY: test format lint unit docs bare soak bench clean

test: format lint unit docs bare
	@echo "make test: all checks passed"

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

unit:
	$(CARGO) test --locked --workspace

docs:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

bare:
	rustup target add $(BARE_TARGET)
	$(CARGO) check --locked -p bellwether-proto --target $(BARE_TARGET)

# The long counts: resumes where it was stopped; seeds are in its report.
soak:
	$(CARGO) run --locked --release -p bellwether-sim --example soak -- --runs 10000

# The figures, as ratios in one run.
bench:
	$(CARGO) bench --locked -p bellwether-sim
	$(CARGO) bench --locked -p bellwether-cli --bench agent

clean:
	$(CARGO) clean
