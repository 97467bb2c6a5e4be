#!/bin/bash
# Plays the documents' tours and the recipes with both tools under valgrind's memcheck. Whatever they do wrong with
# memory, themselves or in what they hand to SQLite, libarchive, libsodium, zstd and ISA-L, ends this with what
# valgrind says of it.
#
#   scripts/valgrind.sh TOOLS    the folder in which both tools lie, built
set -euo pipefail
tools=$(realpath "$1")
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/bin" "$place/logs"

for tool in satchel satchel-hub; do
  cat > "$place/bin/$tool" <<END
#!/bin/sh
exec valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99 --log-file='$place/logs/%p' '$tools/$tool' "\$@"
END
  chmod +x "$place/bin/$tool"
done

# A complaint ends the command with an exit code of its own; what a document lets fail is found in the logs all the
# same.
play() {
  echo "under valgrind: $1"
  shift
  "$@" > "$place/told" 2>&1 || failed=$?
  if [ -n "${failed:-}" ] || find "$place/logs" -type f -size +0 | grep -q .; then
    cat "$place/told"
    find "$place/logs" -type f -size +0 -exec cat {} +
    exit 1
  fi
}

for document in README.md docs/GEOPACKAGE.md docs/guides/*.md; do play "$document" scripts/tour.sh "$place/bin" "$document"; done
for recipe in survey qfield clinic ship; do
  mkdir "$place/$recipe"
  play "$recipe" env -C "$place/$recipe" PATH="$place/bin:$PATH" "$PWD/examples/recipes/$recipe.sh"
done
echo "$(find "$place/logs" -type f | wc -l) commands under valgrind: it complains of none"
