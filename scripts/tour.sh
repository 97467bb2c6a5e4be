#!/usr/bin/env bash
# Runs a document's tour as it is printed, in a folder of its own: scripts/tour.sh FOLDER_OF_THE_TOOLS [DOCUMENT]
# The document is the README where none is named; the examples lie in the folder.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
document="$top/${2:-README.md}"
tools=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The code between the two marks, fences left out.
sed -n '/<!-- tour -->/,/<!-- \/tour -->/p' "$document" |
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' > "$folder/tour"
[ -s "$folder/tour" ]
mkdir "$folder/empty"
cp "$top"/examples/*.json "$folder/empty"
cd "$folder/empty"
# The tours read answers in English, whatever the language of the machine.
PATH="$tools:$PATH" LC_ALL=C.UTF-8 bash -euo pipefail "$folder/tour"
