#!/bin/bash
# Builds both tools as static programs, into .build/static/bin, and sees to it that they are: no shared library, below
# 18 MB, at work in an empty folder that has nothing but /proc.
set -euo pipefail
cd "$(dirname "$0")/.."
place=.build/static
# Regular expressions and what goes with them would be a fifth of the program, and nothing here needs them.
libraries=()
for library in nettle acl attr xml2 icuuc icudata lzma zstd lz4 bz2 z m; do libraries+=(-Xlinker "-l$library"); done
mkdir -p "$place"
clang -Os -c packaging/no-tls.c -o "$place/no-tls.o"
# In vector instructions: this computes every byte of parity volumes.
clang -O3 -c packaging/isal.c -o "$place/isal.o"
ar rcs "$place/libisal.a" "$place/isal.o"
libraries+=(-Xlinker "-L$PWD/$place" -Xlinker "$PWD/$place/no-tls.o")
for tool in satchel satchel-hub; do
  # With a section for each function, and nothing kept for libraries to come, the linker leaves out what a tool does
  # not call, such as the hub's half in the device's.
  swift build -q -c release --scratch-path "$place" --static-swift-stdlib -Xswiftc -static-executable -Xswiftc -Osize \
    -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
    -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -internalize-at-link \
    -Xlinker --gc-sections -Xlinker --icf=all -Xlinker --no-eh-frame-hdr "${libraries[@]}" --product "$tool" \
    2> >(grep -v -e dlopen -e getpwnam -e 'warning: Using' >&2)
  mkdir -p "$place/bin"
  strip -o "$place/bin/$tool" "$place/release/$tool"
  file "$place/bin/$tool" | grep -q 'statically linked' || { echo "$tool is not static" >&2; exit 1; }
  size=$(stat -c %s "$place/bin/$tool")
  limit=18000000
  [ "$size" -lt "$limit" ] || { echo "$tool has $size bytes, which is more than $limit" >&2; exit 1; }
  root=$(mktemp -d)
  mkdir "$root/proc" "$root/tmp"
  cp "$place/bin/$tool" "$root/"
  # Whatever happens: nothing stays mounted.
  trap 'umount -q "$root/proc" || true; rm -rf "$root"' EXIT
  if [ "$(id -u)" -eq 0 ] && mount -t proc proc "$root/proc" 2>/dev/null; then
    chroot "$root" "/$tool" --version
    umount "$root/proc"
  else
    echo "$tool: not tried in an empty folder, which takes root" >&2
    "$place/bin/$tool" --version
  fi
  rm -rf "$root"
  trap - EXIT
  echo "$place/bin/$tool: $size bytes"
done
