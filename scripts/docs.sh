#!/bin/bash
# Builds the documentation of the library that apps bring along, from its sources' comments and
# docs/SatchelDevice.docc, with the toolchain's own tools: .build/docs is an archive that any web server shows. A link
# that leads nowhere stops it, as does every other warning but one: parameters are described where a name does not say
# enough.
#
#   scripts/docs.sh [FOLDER [CATALOGUE]]   into FOLDER, which is .build/docs without it, from CATALOGUE, which is
#                                          docs/SatchelDevice.docc without it
#
# SATCHEL_BUILD names a SwiftPM build folder in which the modules are built already.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-.build/docs}
catalogue=${2:-docs/SatchelDevice.docc}
swift=${SWIFT:-swift}
docc=${DOCC:-$(command -v docc || echo "$(dirname "$(readlink -f "$(command -v "$swift")")")/docc")}
if ! [ -x "$docc" ]; then
  echo "docs: there is no docc beside $swift: it comes with the toolchains of swift.org" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/graphs"
if [ -n "${SATCHEL_BUILD:-}" ]; then
  modules=$SATCHEL_BUILD/Modules
else
  "$swift" build --product SatchelDevice --scratch-path .build/documented -q
  modules=$("$swift" build --scratch-path .build/documented --show-bin-path)/Modules
fi
includes=()
for folder in Sources/C[A-Z]*; do if [ -e "$folder/module.modulemap" ]; then includes+=(-I "$folder"); fi; done
triple=$("$swift" -print-target-info | jq -r .target.unversionedTriple)
for module in SatchelDevice SatchelWorkspace SatchelConflicts SatchelRows SatchelPlatform SatchelValues; do
  "$swift" symbolgraph-extract -module-name "$module" -I "$modules" "${includes[@]}" -target "$triple" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$work/graphs"
done

rm -rf "$target"
"$docc" convert "$catalogue" --additional-symbol-graph-dir "$work/graphs" --output-dir "$target" \
  --fallback-display-name Satchel --fallback-bundle-identifier satchel --diagnostics-file "$work/diagnostics.json" \
  > "$work/words" 2>&1 || { cat "$work/words" >&2; exit 1; }
found=$(jq -r '.diagnostics[] | select(.severity == "warning" or .severity == "error")
  | select(.summary | test("^Parameter .* is missing documentation$") | not)
  | "\(.source // "docs" | sub("^.*/(?=(Sources|docs)/)"; "")):\(.range.start.line // 0): \(.summary)"' "$work/diagnostics.json")
if [ -n "$found" ]; then
  printf 'docs: %s\n' "$found" >&2
  rm -rf "$target"
  exit 1
fi
echo "docs: $target"
