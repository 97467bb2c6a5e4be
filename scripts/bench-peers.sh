#!/bin/bash
# Installs what `make bench` compares Satchel with: Debian's packages, and Python's modules into .build/bench-venv,
# never into the system. What cannot be installed is named here and in the tables; everything else is measured all the
# same.
set -uo pipefail
cd "$(dirname "$0")/.."
place=.build/bench-venv

# What measures and what is compared by hand must be there.
scripts/install-packages.sh time zip minisign zstd sqlite3 python3-venv || exit 1
scripts/install-packages.sh sqlite3-tools || echo "MISSING: sqldiff (Debian's package sqlite3-tools)" >&2

[ -x "$place/bin/python" ] || python3 -m venv "$place" || echo "MISSING: a place for Python's modules" >&2
for module in apsw pygeodiff; do
  "$place/bin/python" -c "import $module" 2>/dev/null ||
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$module" ||
    echo "MISSING: $module (from PyPI)" >&2
done
exit 0
