#!/usr/bin/env bash
# A household survey on tablets. Who surveys which region stands in a table of the survey itself, so that giving somebody a region is one INSERT at the
# office: with the next stick the region's households and their visits are on the tablet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/expect.sh"

# The office: its database, the rules, two surveyors with a tablet each.
sqlite3 office.sqlite < "$here/../survey.sql"
satchel-hub init hub --dataset "$here/../survey.json" --database office.sqlite
for surveyor in ann ben; do
  satchel-hub -C hub user add "$surveyor"
  satchel-hub -C hub device provision "tablet-$surveyor" --user "$surveyor" --into "$PWD/tablet-$surveyor"
done
expect 'ann has the north and the east' tablet-ann/data.sqlite 'SELECT group_concat(region) FROM (SELECT DISTINCT region FROM households ORDER BY region)' 'east,north'

# A week in the field. Any app may write.
sqlite3 tablet-ann/data.sqlite "
  UPDATE households SET members = 7 WHERE id = 'h0000';
  INSERT INTO visits VALUES ('ann-1', 'h0000', '2026-05-04', 'ann', 'new well', 51.5);"
sqlite3 tablet-ben/data.sqlite "UPDATE households SET head = 'Family Ode' WHERE id = 'h0001'"
sqlite3 office.sqlite "UPDATE households SET head = 'Family Odeh' WHERE id = 'h0001'"

# Ann's first stick falls into the river. The next one has everything that was on it.
mkdir stick lost-stick
satchel -C tablet-ann sync "$PWD/lost-stick"
rm -r lost-stick
for surveyor in ann ben; do satchel -C "tablet-$surveyor" sync "$PWD/stick"; done
satchel-hub -C hub sync "$PWD/stick"
expect "the office has Ann's visit" office.sqlite "SELECT notes FROM visits WHERE id = 'ann-1'" 'new well'

# Ben and the office have renamed the same family: somebody decides, once.
satchel-hub -C hub conflicts
satchel-hub -C hub conflicts resolve --all --policy device --note 'he was there'

# The west is Ben's from now on; the east is nobody's.
sqlite3 office.sqlite "
  INSERT INTO assignments VALUES ('ben', 'west');
  DELETE FROM assignments WHERE region = 'east';"
satchel-hub -C hub sync "$PWD/stick"
satchel -C tablet-ben sync "$PWD/stick"
# Half of ann's households are in the east. Her tablet asks before it removes so many rows, and ends with an exit code of its own.
satchel -C tablet-ann sync "$PWD/stick" || true
expect 'ann still has both' tablet-ann/data.sqlite 'SELECT group_concat(region) FROM (SELECT DISTINCT region FROM households ORDER BY region)' 'east,north'
satchel -C tablet-ann apply --accept
expect 'ann has the north alone' tablet-ann/data.sqlite 'SELECT group_concat(DISTINCT region) FROM households' north
expect 'ben has 500 households' tablet-ben/data.sqlite 'SELECT count(*) FROM households' 500
expect 'the family has the name that Ben has found' office.sqlite "SELECT head FROM households WHERE id = 'h0001'" 'Family Ode'
