# `make` alone lists the targets. Each installs what it needs first, see scripts/ensure.
export PATH := $(PATH):$(HOME)/.cargo/bin
SECONDS ?= 60
OTHER_TARGET = $(or $(CARGO_TARGET_DIR),target)/other

.PHONY: help demo test test-all deb generate reproduction lint doc fuzz bench
help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

# make demo        bond emulated links on this machine, let one die, report (JSON=1, HTML=page.html)
demo:
	@scripts/ensure build
	@cargo run --release -p polypath-lab -- demo $(if $(JSON),--json) $(if $(HTML),--html '$(HTML)')

# make test        run the tests (in CI with the experiments, if files that these depend on have changed)
test:
	@scripts/ensure test
	@scripts/test

# make test-all    run the tests, the experiments among them, and every fuzz target for SECONDS=60
test-all:
	@scripts/ensure test experiments fuzz
	@scripts/test --all
	@fuzz/run $(SECONDS)
	@scripts/test --summary

# make deb         build the Debian package of polypath, in target/debian
deb:
	@scripts/ensure deb
	@scripts/deb

# make generate    write the schema and reference of scenario files and the classes of the Python package anew
generate:
	@scripts/ensure build
	@scripts/generate

# make reproduction  run the experiments of the papers and write their results into the pages about them
reproduction:
	@scripts/ensure build
	@scripts/reproduction

# make lint        check formatting, run Clippy, and compile benchmarks and fuzz targets
lint:
	@scripts/ensure lint
	cargo fmt --all --check
	@# cargo fmt does not see modules that a macro declares, nor the fuzz targets.
	git -c safe.directory='*' ls-files -z '*.rs' | xargs -0 rustfmt --check --edition 2024 --config-path rustfmt.toml
	cargo clippy --workspace $$(scripts/kernel_features) --all-targets -- -D warnings
	cargo clippy -p polypath-sim --no-default-features -- -D warnings
	@# Workspaces of their own, which no test builds.
	cargo check -q --manifest-path benches/Cargo.toml --benches --target-dir $(OTHER_TARGET)
	cargo check -q --manifest-path fuzz/Cargo.toml --bins --target-dir $(OTHER_TARGET)

# make doc         build the API documentation
doc:
	@scripts/ensure build
	@# With the features of `make lint`, which has checked the dependencies with them.
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace $$(scripts/kernel_features) --no-deps

# make fuzz        run every fuzz target for SECONDS=60, two at a time
fuzz:
	@scripts/ensure fuzz
	fuzz/run $(SECONDS)

# make bench       a link's cost of a packet; the simulator's cost of a segment; a bond over loopback against the QUIC library's own stream; the marks in virtual time
bench:
	@scripts/ensure build
	@cargo bench -q --manifest-path benches/Cargo.toml --bench link
	@cargo run -q --release -p polypath-lab -- bench sim
	@cargo bench -q --manifest-path benches/Cargo.toml --bench loopback
	@cargo run --release -p polypath-sim --example defaults -- marks polypath hystart_pp edpf
