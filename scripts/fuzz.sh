#!/bin/bash
# Fuzzes everything that reads what strangers send, guided by coverage, from the golden bundles on (libFuzzer,
# https://llvm.org/docs/LibFuzzer.html).
#
#   scripts/fuzz.sh SECONDS
#
# What crashes or hangs is kept in .build/fuzz/found and makes the script fail; what covers new code is kept in
# .build/fuzz/corpus for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?say for how many seconds}
place=.build/fuzz
swift build -q -c release --scratch-path "$place" --target SatchelFuzz -Xswiftc -sanitize=fuzzer -Xswiftc -assert-config -Xswiftc Debug
objects=$(find "$place/release/" -path '*.build/*.o' | grep -v -e '/mutate' -e '/bench' -e '/make' | sort)
# shellcheck disable=SC2086
swiftc -sanitize=fuzzer -parse-as-library $objects -o "$place/fuzz" -lsqlite3 -larchive -lsodium -lzstd -lisal
mkdir -p "$place/corpus" "$place/found"
swift build -q --product mutate
"$(swift build --show-bin-path)/mutate" --seeds "$place/corpus" bundles/*.satchel
"$place/fuzz" -max_total_time="$seconds" -timeout=1 -rss_limit_mb=512 -max_len=200000 -artifact_prefix="$place/found/" "$place/corpus"
