#!/bin/bash
# Checks what the compiler does not check:
# - A room imports no room below it in the table of docs/ARCHITECTURE.md.
# - Only the rooms that wrap C use C.
# - SQL on tables of Satchel is only in the folders Store, and in the rooms that own a table.
# - Whatever can stop the program has its reason beside it.
# - Tests start other programs in one place.
# Prints each violation as file:line: reason, and exits 1 if there is one.
#
#   scripts/check-layers.sh              checks this repository
#   scripts/check-layers.sh --self-test  plants each violation in a copy and expects it to be found
set -euo pipefail

# The rooms in their order, as in Package.swift: each may import only those before it.
ROOMS="Values Platform Web JSON QRCode Crypto Geometry SQLite Dataset Bundle Merge Capture Rows Conflicts Workspace Device Hub Commands"

# The tools' mains stand outside the house and see only its front door.
MAINS="satchel satchel-hub"

check() { # check ROOT
  local root=$1
  (cd "$root" && check_order && find Sources -name '*.swift' -print0 | sort -z \
    | xargs -0 --no-run-if-empty awk -v rooms="$ROOMS" -v mains="$MAINS" "$RULES" && check_children)
}

# Two threads that start programs at once would leave each other's pipes open.
check_children() {
  grep -rnE '(^|[^A-Za-z])(Process|Pipe)\(\)' Tests --include='*.swift' | grep -v '^Tests/Support/ChildProcess.swift:' \
    | sed -E 's/^([^:]*:[0-9]*):.*/\1: programs are started by ChildProcess/' || true
}

# The list above and Package.swift must tell the same story.
check_order() {
  local declared
  declared=$(tr -d '\n' <Package.swift | grep -o ' room( *"[A-Za-z]*"' | cut -d '"' -f 2 | paste -sd ' ')
  if [ "$declared" != "$ROOMS" ]; then
    echo "Package.swift:1: its rooms are '$declared', but scripts/check-layers.sh knows '$ROOMS'"
  fi
}

RULES='
  BEGIN {
    count = split(rooms, list, " ")
    for (i = 1; i <= count; i++) place[list[i]] = i
    split(mains, list, " ")
    for (i in list) isMain[list[i]] = 1
    only["CLinux"] = " Platform "
    only["CSQLite"] = " SQLite "
    only["CArchive"] = " Bundle "
    only["CZstd"] = " Bundle "
    only["CIsal"] = " Bundle "
    only["CSodium"] = " Crypto "
    only["CQRCode"] = " QRCode "
    only["CMicroHTTPD"] = " Web "
    only["Glibc"] = " Platform Web Bundle SQLite Crypto "
    reason["CLinux"] = "only Platform imports CLinux: use the doors of Platform"
    reason["CSQLite"] = "only SQLite imports CSQLite: SQL goes through its Database"
    reason["CArchive"] = "only Bundle imports CArchive: no other target reads tar files"
    reason["CZstd"] = "only Bundle imports CZstd: no other target packs and unpacks"
    reason["CIsal"] = "only Bundle imports CIsal: it cuts and joins volumes"
    reason["CQRCode"] = "only QRCode imports CQRCode"
    reason["CMicroHTTPD"] = "only Web imports CMicroHTTPD"
    reason["CSodium"] = "only Crypto imports CSodium: keys and digests have types there"
    reason["Glibc"] = "only Platform, and the rooms that wrap C, import Glibc: use the doors of Platform"
  }

  function report(why) { print FILENAME ":" FNR ": " why }

  # Why this room may not import this module; empty when it may.
  function refusal(module,   target) {
    if (module ~ /^Foundation/) return "Foundation is not used in Sources: it makes the tools ten times as large"
    if (module in only) return index(only[module], " " room " ") ? "" : reason[module]
    if (module !~ /^Satchel/) return ""
    target = substr(module, 8)
    if (!(target in place)) return "there is no room " target
    if (target == "Web") return (room in isMain) ? "" : "only the mains import Web: the others know the door WebServer"
    if (room in isMain) return target == "Commands" || target == "Platform" ? "" : "a main imports only Commands and Platform"
    if (target == room) return room " imports itself"
    if ((room == "Device" && target == "Hub") || (room == "Hub" && target == "Device"))
      return "Device and Hub do not know each other: what both need stands before them"
    if (place[target] > place[room]) return room " stands before " target " and cannot import it"
    if (room == "Merge" && target != "Values" && target != "JSON" && target != "Dataset")
      return "Merge is values in, values out: it imports only Values, JSON and Dataset"
    if (room == "Bundle" && target == "SQLite") return "Bundle knows no SQLite: readers and inspectors of bundles need none"
    return ""
  }

  # The module of an import, without attributes, access level, kind (struct, func, ...) and submodule; empty for other
  # lines.
  function imported(statement) {
    sub(/^[ \t]+/, "", statement)
    while (statement ~ /^@[A-Za-z_]+(\([^)]*\))?[ \t]+/) sub(/^@[A-Za-z_]+(\([^)]*\))?[ \t]+/, "", statement)
    sub(/^(public|package|internal|fileprivate|private)[ \t]+/, "", statement)
    if (statement !~ /^import[ \t]/) return ""
    sub(/^import[ \t]+/, "", statement)
    sub(/^(struct|class|enum|protocol|typealias|func|let|var|macro)[ \t]+/, "", statement)
    match(statement, /^[A-Za-z_0-9]+/)
    return substr(statement, 1, RLENGTH)
  }

  FNR == 1 {
    split(FILENAME, part, "/")
    room = part[2]
    if (!(room in place) && !(room in isMain)) report("the folder Sources/" room " is in no list of rooms")
  }

  {
    code = $0
    hasComment = index(code, "//") > 0
    sub(/\/\/.*/, "", code)
    statements = split(code, statement, ";")
    for (i = 1; i <= statements; i++) {
      module = imported(statement[i])
      if (module != "" && (why = refusal(module)) != "") report(why)
    }
    if (room ~ /^(Device|Hub|Commands)$/ && FILENAME !~ /\/Store\// && code ~ /(FROM|INTO|UPDATE|JOIN) satchel_/ && code !~ /satchel_above/)
      report("SQL on tables of Satchel is only in the folders Store: give the table there a function")
    if (!hasComment) {
      if (code ~ /(^|[^A-Za-z_])try!/) report("try! stops the program: say beside it why it cannot throw")
      if (code ~ /(^|[^A-Za-z_])fatalError\(/) report("fatalError stops the program: say beside it why")
      if (code ~ /(^|[^A-Za-z_])as!/) report("as! stops the program: say beside it why it cannot fail")
    }
  }
'

self_test() {
  local copy failures=0
  copy=$(mktemp -d)
  trap "rm -rf '$copy'" EXIT
  cp -r Sources Tests Package.swift "$copy"
  if [ -n "$(check "$copy")" ]; then
    echo "self-test: the repository itself has violations" >&2
    exit 1
  fi

  expect() { # expect ROOM 'LINE' 'REASON, or nothing when the line is allowed'
    local file="Sources/$1/Planted.swift" found wanted=""
    mkdir -p "$copy/Sources/$1"
    printf '// A line before.\n\n%b\n' "$2" >"$copy/$file"
    found=$(check "$copy")
    rm "$copy/$file"
    rmdir --ignore-fail-on-non-empty "$copy/Sources/$1"
    # A room that is unknown is told once, at its file's first line.
    [ -z "$3" ] || wanted="$file:[134]: *$3"
    if [[ "$found" != $wanted* || ( -z "$3" && -n "$found" ) ]]; then
      echo "self-test: '$2' in $1 gives '$found', expected '$wanted'" >&2
      failures=$((failures + 1))
    fi
  }

  expect Values 'import SatchelPlatform' 'stands before Platform'
  expect Dataset 'import SatchelBundle' 'stands before Bundle'
  expect JSON 'import SatchelValues' ''
  expect JSON 'import SatchelNowhere' 'there is no room'
  expect Device 'import SatchelHub' 'do not know each other'
  expect Hub 'import SatchelDevice' 'do not know each other'
  expect Merge 'import SatchelSQLite' 'values in, values out'
  expect Merge 'import SatchelJSON' ''
  expect Merge 'import SatchelDataset' ''
  expect Bundle 'import SatchelSQLite' 'Bundle knows no SQLite'
  expect Bundle 'import CSQLite' 'only SQLite imports'
  expect SQLite 'import CArchive' 'only Bundle imports'
  expect Hub 'import CSodium' 'only Crypto imports'
  expect Crypto 'import CSodium' ''
  expect Commands 'import CQRCode' 'only QRCode imports'
  expect Commands 'import CMicroHTTPD' 'only Web imports'
  expect Commands 'import SatchelWeb' 'only the mains import Web'
  expect satchel 'import SatchelWeb' ''
  expect satchel-hub 'import SatchelWeb' ''
  expect Hub 'import Glibc' 'use the doors of Platform'
  expect SQLite 'import Glibc' ''
  expect Hub 'import Foundation' 'Foundation is not used'
  expect Hub 'import FoundationEssentials' 'Foundation is not used'
  expect Hub '@preconcurrency import struct Foundation.Date' 'Foundation is not used'
  expect Values '@_spi(Inner) private import SatchelJSON' 'stands before JSON'
  expect Values 'import Synchronization; import SatchelJSON' 'stands before JSON'
  expect Values '// import SatchelJSON' ''
  expect satchel 'import SatchelHub' 'a main imports only'
  expect satchel 'import SatchelCommands' ''
  expect Attic 'import SatchelValues' 'in no list of rooms'
  expect Hub 'let sql = "SELECT 1 FROM satchel_log"' 'only in the folders Store'
  expect Device 'let sql = "UPDATE satchel_device SET id = 1"' 'only in the folders Store'
  expect Hub/Store 'let sql = "SELECT 1 FROM satchel_log"' ''
  expect Workspace 'let sql = "SELECT 1 FROM satchel_ledger"' ''
  expect Hub 'let a = try! b()' 'try! stops'
  expect Hub 'let a = b as! C' 'as! stops'
  expect Hub 'fatalError("x")' 'fatalError stops'
  expect Hub 'let a = try! b()  // the text is a constant' ''
  expect Hub '// The text is a constant.\nlet a = try! b()' 'try! stops'
  expect Hub 'let a = try b(); notFatalError()' ''

  echo 'let process = Process()' >"$copy/Tests/Planted.swift"
  if [[ "$(check "$copy")" != "Tests/Planted.swift:1: "* ]]; then
    echo "self-test: a program that is started elsewhere is not noticed" >&2
    failures=$((failures + 1))
  fi
  rm "$copy/Tests/Planted.swift"

  sed -i 's/room("JSON"/room("Jason"/' "$copy/Package.swift"
  if [[ "$(check "$copy")" != "Package.swift:1: "* ]]; then
    echo "self-test: another order in Package.swift is not noticed" >&2
    failures=$((failures + 1))
  fi
  [ "$failures" -eq 0 ] || exit 1
  echo "check-layers: every planted violation is found"
}

cd "$(dirname "$0")/.."
if [ "${1:-}" = --self-test ]; then
  self_test
else
  violations=$(check .)
  if [ -n "$violations" ]; then
    echo "$violations"
    exit 1
  fi
fi
