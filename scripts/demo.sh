#!/usr/bin/env bash
# A field season in a minute: a hub, two surveyors, three devices, and sticks that are lost, repeated and mixed up.
# Plays on real databases with the release build, leaves all workspaces in demo/, and ends with a check by plain SQL
# that every device holds exactly what its user may see.
#
#   scripts/demo.sh [FOLDER [TOOLS]]   in another folder than demo/, with the tools of another folder
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
demo=${1:-$top/demo}
PATH="${2:-$top/.build/release}:$PATH"
rm -rf "$demo"
mkdir -p "$demo/sticks"
cd "$demo"

chapter() { printf '\n== %s\n' "$*"; }
say() { printf '   %s\n' "$*"; }
run() {
  printf '   $'
  for word in "$@"; do [[ $word == *" "* ]] && printf ' "%s"' "$word" || printf ' %s' "$word"; done
  printf '\n'
  "$@" | sed 's/^/     /'
}
sql() { sqlite3 -bail "$@"; }

chapter "The office has a survey database: 4 regions, 1,000 households, 3,000 visits"
sql office.sqlite < "$top/examples/survey.sql"
run satchel-hub init hub --dataset "$top/examples/survey.json" --database office.sqlite
run satchel-hub -C hub user add ann
run satchel-hub -C hub user add ben
say "Ann surveys north and east, Ben the south: so say the rows of the table assignments."

chapter "Ann gets two tablets, ready to use; Ben's phone asks to join, and people compare fingerprints"
run satchel-hub -C hub device provision tablet-1 --user ann --into ../tablet-1
run satchel-hub -C hub device provision tablet-2 --user ann --into ../tablet-2
run satchel init phone --dataset survey --name phone --request sticks/phone-request.satchel
shown_by_phone=$(satchel -C phone status --json | jq -r .fingerprint)
shown_by_hub=$(satchel-hub -C hub status --json | jq -r .fingerprint)
run satchel-hub -C hub device enrol "../sticks/phone-request.satchel" --user ben --fingerprint "$shown_by_phone"
cp hub/bundles/outbox/survey-hub-phone-1.satchel sticks/
run satchel -C phone import "../sticks/survey-hub-phone-1.satchel" --fingerprint "$shown_by_hub"

chapter "Weeks without a network: everybody works, with whatever program writes SQLite"
sql tablet-1/data.sqlite "
  UPDATE households SET water = 'pump' WHERE region = 'north' AND water IS NULL;
  UPDATE households SET members = 5, head = 'Family Okoye' WHERE id = 'h0000';
  INSERT INTO visits VALUES ('t1-1', 'h0000', '2026-03-01', 'ann', 'new pump works', 51.25);
  DELETE FROM visits WHERE id = 'v00004';"
sql tablet-2/data.sqlite "
  UPDATE households SET head = 'Family Okoye-Hart' WHERE id = 'h0000';
  INSERT INTO visits VALUES ('t2-1', 'h0002', '2026-03-02', 'ann', 'nobody at home', NULL);"
sql phone/data.sqlite "
  UPDATE households SET water = 'tank' WHERE id = 'h0001';
  INSERT INTO visits VALUES ('p-1', 'h0001', '2026-03-03', 'ben', 'tank leaks', 47.5);"
sql office.sqlite "UPDATE households SET members = 6 WHERE id = 'h0001'; UPDATE visits SET notes = 'checked' WHERE id = 'v00000';"
run satchel -C tablet-1 status

chapter "Tablet 1 sends a stick, which is lost; it works on and sends another"
run satchel -C tablet-1 export
sql tablet-1/data.sqlite "INSERT INTO visits VALUES ('t1-2', 'h0004', '2026-03-05', 'ann', 'all well', 49.0);"
run satchel -C tablet-1 export --to ../sticks
say "The first stick lies in a river. The second has everything that the first one had."

chapter "Tablet 2 and the phone send theirs; the hub imports what comes, some of it twice, in any order"
run satchel -C tablet-2 export --to ../sticks
run satchel -C phone export --to ../sticks
run satchel-hub -C hub import ../sticks/survey-tablet-2-hub-1.satchel
run satchel-hub -C hub import "../sticks/survey-tablet-1-hub-2.satchel" "../sticks/survey-phone-hub-1.satchel"
run satchel-hub -C hub import "../sticks/survey-tablet-1-hub-2.satchel"
say "And the river gives back the first stick, weeks late:"
run satchel-hub -C hub import "../tablet-1/bundles/sent/survey-tablet-1-hub-1.satchel"

chapter "Both tablets renamed one family: nothing is lost, and a person decides"
run satchel-hub -C hub conflicts
conflict=$(satchel-hub -C hub conflicts --json | jq -r '.conflicts[] | select(.kind == "update/update") | .id')
run satchel-hub -C hub conflicts show "$conflict"
run satchel-hub -C hub conflicts resolve "$conflict" --set "head=Family Okoye Hart" --note "asked the family"

chapter "A file is damaged on the way: it is refused, and nothing of it is used"
damaged=../sticks/damaged.satchel
head -c 400 sticks/survey-phone-hub-1.satchel > sticks/damaged.satchel
printf '   $ satchel-hub -C hub import %s\n' "$damaged"
code=0
satchel-hub -C hub import "$damaged" 2>&1 | sed 's/^/     /' || true
satchel-hub -q -C hub import "$damaged" 2> /dev/null || code=$?
say "Exit code $code. What was refused lies in bundles/quarantine, with the reason beside it."
[ "$code" = 3 ]

chapter "The office grants Ben the west, and takes the east from Ann; no household row is touched"
sql office.sqlite "
  INSERT INTO assignments VALUES ('ben', 'west');
  DELETE FROM assignments WHERE surveyor = 'ann' AND region = 'east';"
sql tablet-2/data.sqlite "UPDATE households SET water = 'lake' WHERE id = 'h0006';"
say "Meanwhile tablet 2 still changes a household in the east."
run satchel-hub -C hub emit --all --to ../sticks
run satchel -C phone import "../sticks/survey-hub-phone-2.satchel"
for device in tablet-1 tablet-2; do
  bundle="../sticks/survey-hub-$device-2.satchel"
  printf '   $ satchel -C %s import %s\n' "$device" "$bundle"
  code=0
  satchel -C "$device" import "$bundle" > sticks/words.txt 2>&1 || code=$?
  sed 's/^/     /' sticks/words.txt
  say "Exit code $code. Half of the visits would go, so Ann asks the office. It is meant:"
  [ "$code" = 3 ]
  run satchel -C "$device" apply --accept
done
say "Tablet 2's change of a row that Ann may no longer see is kept as a conflict, and told to the hub:"
run satchel -C tablet-2 conflicts

chapter "The last round: everybody exports, the hub imports and emits, everybody imports"
for round in 1 2; do
  for device in tablet-1 tablet-2 phone; do satchel -q -C "$device" export --to ../sticks; done
  find tablet-1 tablet-2 phone -path '*/outbox/*.satchel' | while read -r file; do satchel-hub -q -C hub import "../$file"; done
  satchel-hub -q -C hub emit --all --to ../sticks
  for device in tablet-1 tablet-2 phone; do
    newest=$(find hub/bundles/outbox -name "survey-hub-$device-*.satchel" | sort -V | tail -n 1)
    satchel -q -C "$device" import "../$newest"
  done
done
run satchel-hub -C hub status
run satchel -C tablet-1 status

chapter "The check, by plain SQL: does every device hold exactly what its user may see?"
mine="SELECT region FROM assignments WHERE surveyor = "
failed=0
check() {
  local device=$1 user=$2 table rows
  for table in regions assignments households visits; do
    case $table in
      regions) where="1" ;;
      assignments) where="surveyor = '$user'" ;;
      households) where="region IN ($mine '$user')" ;;
      visits) where="household IN (SELECT id FROM households WHERE region IN ($mine '$user'))" ;;
    esac
    sql office.sqlite ".mode quote" "SELECT * FROM $table WHERE $where ORDER BY 1, 2" > "sticks/$device-$table.expected"
    sql "$device/data.sqlite" ".mode quote" "SELECT * FROM $table ORDER BY 1, 2" > "sticks/$device-$table.found"
    rows=$(wc -l < "sticks/$device-$table.expected")
    if cmp -s "sticks/$device-$table.expected" "sticks/$device-$table.found"; then
      say "$device ($user): $table has its $rows rows, no more and no less"
    else
      say "$device ($user): $table DIFFERS: diff demo/sticks/$device-$table.expected demo/sticks/$device-$table.found"
      failed=1
    fi
  done
}
check tablet-1 ann
check tablet-2 ann
check phone ben
for device in tablet-1 tablet-2 phone; do
  pending=$(satchel -C "$device" status --json | jq '[.pending[]] | add // 0')
  [ "$pending" = 0 ] || { say "$device still has $pending changes that the hub has not acknowledged"; failed=1; }
done
[ "$failed" = 0 ] || { printf '\nThe check FAILED.\n'; exit 1; }
printf '\nEverything is as it should be. The workspaces are in demo/: look around, for example\n\n'
printf '  .build/release/satchel-hub -C demo/hub log\n  .build/release/satchel -C demo/tablet-2 conflicts --all\n'
printf '  sqlite3 demo/office.sqlite "SELECT * FROM satchel_conflicts"\n'
