# Satchel: what can be made here. `make test FILTER=PlatformTests` runs a part of the tests.
#
#   HISTORIES  how many random histories of hub and devices, and of scopes, `make soak` tries (1000)
#   ROWS       how many rows each side brings in `make soak` while other processes write (100000)
#   PROGRAMS   how many random programs of writers in captured databases `make soak` tries (20000)
#   ONLY       a part of `make bench`: capture, cycle, scope, memory
#   QUICK      1: `make bench` measures less, in two minutes
#   SECONDS    for how long `make fuzz` goes on (300)
#   SEED       the first seed of `make soak`; give the one that a failure printed to see that failure again

SWIFT     ?= swift
HISTORIES ?= 1000
PROGRAMS  ?= 20000
ROWS      ?= 100000
SECONDS   ?= 300
SEED      ?=
FILTER    ?=
QUICK     ?=
ONLY      ?=

# The Debian packages that building, testing and the demonstration need.
PACKAGES := libsqlite3-dev libarchive-dev libsodium-dev pkg-config sqlite3 zstd minisign jq python3 gdal-bin \
  age python3-jsonschema python3-nacl python3-zstandard libzstd-dev libqrcodegen-dev mtools zbar-tools groff-base strace

# What a static build needs besides.
STATIC_PACKAGES := libacl1-dev liblz4-dev libbz2-dev libxml2-dev nettle-dev liblzma-dev zlib1g-dev libicu-dev file

PREFIX ?= /usr/local

.PHONY: static install crash build test demo lint format soak fuzz bench clean deps

# Both tools: .build/release/satchel and .build/release/satchel-hub.
build: deps
	$(SWIFT) build -c release

test: deps
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build $(if $(FILTER),--filter '$(FILTER)')

# .build/static/bin/satchel and satchel-hub: single files that need nothing else on the machine.
static: deps
	@scripts/install-packages.sh $(STATIC_PACKAGES)
	scripts/static.sh

# The tools with manual pages and completion, below PREFIX.
install: build
	scripts/install.sh .build/release '$(DESTDIR)$(PREFIX)'

# A hub, two devices and a stick, played through in a folder of its own.
demo: build
	scripts/demo.sh

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests examples Package.swift
	scripts/check-layers.sh
	scripts/check-layers.sh --self-test

format:
	$(SWIFT) format --in-place --recursive Sources Tests examples Package.swift

# Random histories of a hub and its devices, pairs of hubs, and random programs of writers, in an optimised build, for as long as you like; then large
# bundles, while other processes write and read. Other tests look inside the modules, which an optimised build allows only when it is
# told to.
soak: deps
	SATCHEL_HISTORIES='$(HISTORIES)' SATCHEL_PROGRAMS='$(PROGRAMS)' $(if $(SEED),SATCHEL_SEED='$(SEED)') \
	  $(SWIFT) test -c release -Xswiftc -enable-testing --filter 'ProtocolTests|LeakTests|ScopeChangeTests|CaptureTests.randomPrograms'
	SATCHEL_ROWS='$(ROWS)' $(SWIFT) test -c release -Xswiftc -enable-testing --skip-build --filter ConcurrencyTests

# Kills the tools before every call that changes a file, and fails every such call, one run each: minutes.
crash: deps
	$(SWIFT) build --build-tests
	SATCHEL_CRASHES=1000000 $(SWIFT) test --skip-build --filter CrashTests

# Fuzzes everything that reads what strangers send, guided by coverage, for SECONDS.
fuzz: deps
	scripts/fuzz.sh '$(SECONDS)'

# What Satchel costs, measured against what one would do without it, in an optimised build. QUICK=1 measures less, in two minutes.
bench: deps
	$(SWIFT) build -c release
	QUICK='$(QUICK)' ONLY='$(ONLY)' .build/release/bench

clean:
	rm -rf .build

deps:
	@scripts/install-packages.sh $(PACKAGES)
