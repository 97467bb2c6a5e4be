#!/usr/bin/env bash
# A ship that may send and never receive: its bundles leave through a one-way diode, and no acknowledgement ever comes back. Each export then holds
# everything since the ship was made ready, so that any one of them is enough. Let the ship have a new folder now and then (a visit in the
# port): its exports are small again from then on.
set -euo pipefail
. "$(cd "$(dirname "$0")" && pwd)/expect.sh"

sqlite3 shore.sqlite "
  CREATE TABLE positions (id TEXT PRIMARY KEY, at TEXT NOT NULL, latitude REAL, longitude REAL);
  CREATE TABLE engines (id TEXT PRIMARY KEY, hours INTEGER NOT NULL);
  INSERT INTO engines VALUES ('main', 1200);"
cat > fleet.json <<'END'
{ "dataset": "fleet", "version": 1, "encrypt": "always", "snapshot": "never",
  "tables": { "positions": { "delete": "never" }, "engines": {} } }
END
satchel-hub init shore --dataset fleet.json --database shore.sqlite
satchel-hub -C shore user add erna
satchel-hub -C shore device provision erna --user erna --into "$PWD/erna"

# The diode takes a file and gives none. Here it is a folder, and the second file never leaves it.
mkdir diode
for day in 1 2 3; do
  sqlite3 erna/data.sqlite "
    INSERT INTO positions VALUES ('erna-$day', '2026-05-0$day', 54.3 + $day / 10.0, 10.1);
    UPDATE engines SET hours = hours + 24;"
  satchel -C erna export --to "$PWD/diode"
  [ "$day" = 2 ] || satchel-hub -C shore import "$PWD/diode/fleet-erna-hub-$day.satchel"
  rm -f "$PWD/diode"/*.satchel
done

expect 'the shore has all three days, though the second file was lost' shore.sqlite "SELECT count(*) FROM positions" 3
expect 'and the hours of the engine' shore.sqlite 'SELECT hours FROM engines' 1272
# The shore knows that one file never came, and that nothing is missing; the ship knows of no acknowledgement.
satchel-hub -C shore status
satchel -C erna status
[ "$(satchel-hub -C shore status --json | jq -c '.devices[0].missing')" = '[[2,2]]' ]
[ "$(satchel -C erna status --json | jq '.acknowledged')" = 0 ]

# In the port the ship gets a new folder, with a name of its own; the old one is looked at no more.
satchel-hub -C shore device revoke erna
satchel-hub -C shore device provision erna-2 --user erna --into "$PWD/erna-2"
expect 'the new folder has everything' erna-2/data.sqlite "SELECT count(*) FROM positions" 3
sqlite3 erna-2/data.sqlite "INSERT INTO positions VALUES ('erna-4', '2026-05-04', 54.9, 10.2)"
satchel -C erna-2 export --to "$PWD/diode"
satchel-hub -C shore import "$PWD/diode"/*.satchel
expect 'the shore has the fourth day' shore.sqlite "SELECT count(*) FROM positions" 4
