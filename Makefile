# Satchel: what can be made here. `make test FILTER=PlatformTests` runs a part of the tests.
#
#   SECONDS    for how long `make soak` and `make fuzz` go on (300)
#   SEASONS    how many seasons `make soak` plays, instead of for how long
#   PLANTED    1: `make soak` plants mistakes in a copy of the code, and looks whether they are found
#   SEED       the first seed of `make soak` or `make histories`; give the one that a failure printed to see that
#              failure again
#   HISTORIES  how many random histories of hub and devices, and of scopes, `make histories` tries (1000)
#   RULES      1: `make histories` leaves out each rule of the model in turn, and looks whether histories miss it
#   ROWS       how many rows each side brings in `make histories` while other processes write (100000)
#   DEPTH      up to how many writes and ways of a stick the small histories go, all of which `make histories` plays (5)
#   ATTACKS    how many mutations of an insider's bundles `make fuzz` tries (100000)
#   PROGRAMS   how many random programs of writers in captured databases `make histories` tries (20000)
#   ONLY       parts of `make bench`: start, capture, cycle, peers, growth, scope, proof, memory
#   QUICK      1: `make bench` measures less, in two minutes

SWIFT     ?= swift
HISTORIES ?= 1000
PROGRAMS  ?= 20000
ATTACKS   ?= 100000
DEPTH     ?= 5
ROWS      ?= 100000
SECONDS   ?= 300
SEED      ?=
SEASONS   ?=
PLANTED   ?=
RULES     ?=
FILTER    ?=
QUICK     ?=
ONLY      ?=

# The Debian packages that building, testing and the demonstration need.
PACKAGES := libsqlite3-dev libarchive-dev libsodium-dev pkg-config sqlite3 zstd minisign jq python3 gdal-bin \
  age python3-jsonschema python3-nacl python3-zstandard libzstd-dev libisal-dev libqrcodegen-dev mtools zbar-tools \
  groff-base strace libmicrohttpd-dev rsync

# What a static build needs besides.
STATIC_PACKAGES := libacl1-dev liblz4-dev libbz2-dev libxml2-dev nettle-dev liblzma-dev zlib1g-dev libicu-dev file dpkg

PREFIX ?= /usr/local

# Where `make deb` puts the packages.
DEB ?= .build/deb

# Sets and dictionaries in one order, so that what a seed tells can be seen again.
export SWIFT_DETERMINISTIC_HASHING := 1

# The tests that play random histories. Each reads SATCHEL_HISTORIES and SATCHEL_SEED.
HISTORY_TESTS = ProtocolTests|SmallHistoryTests|KnownHistoryTests|UnitHistoryTests|LeakTests|ScopeChangeTests|$\
  CaptureTests.randomPrograms|UniqueChainTests.random|TangledRowTests.random|NamedKeyTests.random|CascadeTests.random

.PHONY: docs static deb shots install crash build test demo lint format soak histories sanitize fuzz bench clean deps

# Both tools: .build/release/satchel and .build/release/satchel-hub.
build: deps
	$(SWIFT) build -c release

# The tests run what users run: an optimised build, in a folder of its own because tests may look inside the modules.
# The static tools are built without Swift's search in strings, so code that uses it fails here already.
WITHOUT_STRING_PROCESSING := -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import
OPTIMISED := -c release -Xswiftc -enable-testing $(WITHOUT_STRING_PROCESSING) --scratch-path .build/tested

test: deps
	$(SWIFT) build --build-tests $(OPTIMISED)
	$(SWIFT) test --skip-build $(OPTIMISED) $(if $(FILTER),--filter '$(FILTER)')

# .build/static/bin/satchel and satchel-hub: single files that need nothing else on the machine.
static: deps
	@scripts/install-packages.sh $(STATIC_PACKAGES)
	scripts/static.sh

# satchel_*.deb and satchel-hub_*.deb in DEB, of the static tools; both are installed into an empty root, tried and
# removed.
deb: static
	scripts/deb.sh .build/static/bin '$(DEB)'

# The documentation of the library that apps bring along, for any web server: .build/docs.
docs: deps
	SWIFT='$(SWIFT)' scripts/docs.sh

# Drives the console in a browser, and leaves pictures of its pages in .build/shots. Needs: apt-get install chromium;
# pip install playwright
shots: build
	scripts/console-shots.py .build/release .build/shots

# The tools with manual pages, completion, and units that watch for sticks, below PREFIX.
install: build
	DESTDIR='$(DESTDIR)' scripts/install.sh .build/release '$(PREFIX)'

# A hub, two devices and a stick, played through in a folder of its own.
demo: build
	scripts/demo.sh

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests examples Package.swift
	scripts/check-layers.sh
	scripts/check-layers.sh --self-test
	scripts/check-english.py
	scripts/check-english.py --self-test
	scripts/plant.py --check

format:
	$(SWIFT) format --in-place --recursive Sources Tests examples Package.swift

# Seasons of field work in a simulated world, for SECONDS or so many SEASONS; one alone tells its story. PLANTED=1:
# whether they find mistakes.
soak: deps
ifneq ($(PLANTED),)
	scripts/plant.py
else
	$(SWIFT) build $(OPTIMISED) --product simulate
	.build/tested/release/simulate $(if $(SEASONS),seasons $(SEASONS),seconds $(SECONDS)) $(SEED)
endif

# Random histories of the protocol's model, then of a hub and its devices on real files, pairs of hubs, and random
# programs of writers, for as long as you like; then large bundles, while other processes write and read.
histories: deps
ifneq ($(RULES),)
	Tests/Model/histories.py --each-rule '$(HISTORIES)'
else
	Tests/Model/histories.py '$(HISTORIES)' $(SEED)
	SATCHEL_HISTORIES='$(HISTORIES)' SATCHEL_PROGRAMS='$(PROGRAMS)' SATCHEL_DEPTH='$(DEPTH)' $(if $(SEED),SATCHEL_SEED='$(SEED)') \
	  $(SWIFT) test $(OPTIMISED) \
	  --filter '$(HISTORY_TESTS)'
	SATCHEL_ROWS='$(ROWS)' $(SWIFT) test $(OPTIMISED) --skip-build --filter ConcurrencyTests
endif

# The tests under the address sanitizer, the documents' tours and the recipes with both tools under valgrind, then the
# tests under the thread sanitizer: hours, and so with fewer seasons. Both sanitizers need memory of their own; XCTest
# and Foundation, which leak, are the tests' alone.
sanitize: deps
	SATCHEL_SEASONS=100 SATCHEL_MEBIBYTES=512 LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/leaks.txt \
	  $(SWIFT) test -c release -Xswiftc -enable-testing --sanitize address --scratch-path .build/address
	@scripts/install-packages.sh valgrind
	$(SWIFT) build -c release
	scripts/valgrind.sh .build/release
	SATCHEL_SEASONS=100 SATCHEL_MEBIBYTES=512 TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/races.txt \
	  $(SWIFT) test -c release -Xswiftc -enable-testing --sanitize thread --scratch-path .build/thread

# Kills the tools before every call that changes a file, and fails every such call, one run each: an hour. ONLY names
# one of the commands.
crash: deps
	SATCHEL_CRASHES=1000000 SATCHEL_CRASH='$(ONLY)' $(SWIFT) test $(OPTIMISED) --filter 'CrashTests|DockTests.*aults'

# Tries mutated bundles of an enrolled device at a hub, and each foreign value in each member. Then fuzzes everything
# that reads what strangers send, guided by coverage, for SECONDS.
fuzz: deps
	SATCHEL_ATTACKS='$(ATTACKS)' $(if $(SEED),SATCHEL_SEED='$(SEED)') \
	  $(SWIFT) test $(OPTIMISED) --filter 'MutatedBundleTests|MemberTests'
	scripts/fuzz.sh '$(SECONDS)'

# What Satchel costs, measured against what one would do without it, in an optimised build. QUICK=1 measures less, in
# two minutes. Others' programs for the comparison are installed where they are missing. Fails if a limit is exceeded.
bench: deps
	scripts/bench-peers.sh
	$(SWIFT) build -c release
	QUICK='$(QUICK)' ONLY='$(ONLY)' .build/release/bench

clean:
	rm -rf .build

deps:
	@scripts/install-packages.sh $(PACKAGES)
