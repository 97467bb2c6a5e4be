#!/usr/bin/env bash
# Runs the README's tour as it is printed, in a folder of its own: scripts/tour.sh FOLDER_OF_THE_TOOLS
set -euo pipefail

readme="$(cd "$(dirname "$0")/.." && pwd)/README.md"
tools=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The code between the two marks, fences left out.
sed -n '/<!-- tour -->/,/<!-- \/tour -->/p' "$readme" |
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' > "$folder/tour"
[ -s "$folder/tour" ]
mkdir "$folder/empty"
cd "$folder/empty"
PATH="$tools:$PATH" bash -euo pipefail "$folder/tour"
