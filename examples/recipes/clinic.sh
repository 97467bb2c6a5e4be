#!/usr/bin/env bash
# Clinics that register patients. A patient has a key that the clinic makes, and a number on a card by which people know who it is. Two clinics that
# register the same card offline have made one patient: "unique": "fold" makes the two rows one, and the visits of both hang on it.
set -euo pipefail
. "$(cd "$(dirname "$0")" && pwd)/expect.sh"

sqlite3 office.sqlite "
  CREATE TABLE patients (id TEXT PRIMARY KEY, card TEXT NOT NULL UNIQUE, name TEXT NOT NULL, allergies TEXT NOT NULL DEFAULT '[]');
  CREATE TABLE visits (id TEXT PRIMARY KEY, patient TEXT NOT NULL REFERENCES patients (id), day TEXT NOT NULL, notes TEXT);
  CREATE INDEX visits_by_patient ON visits (patient);"
cat > clinics.json <<'END'
{ "dataset": "clinics", "version": 1,
  "tables": {
    "patients": { "unique": "fold", "conflict": "newest", "columns": { "allergies": "union" } },
    "visits": { "delete": "never" } } }
END
satchel-hub init hub --dataset clinics.json --database office.sqlite
for clinic in hill lake; do
  satchel-hub -C hub user add "$clinic"
  satchel-hub -C hub device provision "$clinic" --user "$clinic" --into "$PWD/$clinic"
done

# Ida comes to both clinics in one week, with the same card.
sqlite3 hill/data.sqlite "
  INSERT INTO patients VALUES ('hill-1', 'C-77', 'Ida Berg', '[\"nuts\"]');
  INSERT INTO visits VALUES ('hill-v1', 'hill-1', '2026-05-04', 'fever');"
sqlite3 lake/data.sqlite "
  INSERT INTO patients VALUES ('lake-1', 'C-77', 'Ida Berg', '[\"latex\"]');
  INSERT INTO visits VALUES ('lake-v1', 'lake-1', '2026-05-06', 'better');"

courier hill lake

for database in office.sqlite hill/data.sqlite lake/data.sqlite; do
  expect "in $database Ida is one patient with both allergies" "$database" "
    SELECT (SELECT count(*) FROM patients), group_concat(value)
    FROM (SELECT a.value FROM patients AS p, json_each(p.allergies) AS a ORDER BY a.value)" '1|latex,nuts'
  expect "in $database both visits are hers" "$database" "
    SELECT group_concat(notes) FROM (SELECT v.notes FROM visits AS v JOIN patients AS p ON p.id = v.patient ORDER BY v.day)" fever,better
done
