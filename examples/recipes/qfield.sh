#!/usr/bin/env bash
# QField on tablets, QGIS at the office: a GeoPackage with a layer of trees. GDAL makes layers with AUTOINCREMENT, so "keys": "blocks" gives each tablet
# numbers of its own for new features. A device begins with a template, which has layers and styles and no features. Here ogr2ogr is the app.
set -euo pipefail
. "$(cd "$(dirname "$0")" && pwd)/expect.sh"

feature() { # feature KIND LONGITUDE LATITUDE
  printf '{ "type": "Feature", "properties": { "kind": "%s", "height": 10 }, "geometry": { "type": "Point", "coordinates": [%s, %s] } }\n' "$@"
}

# The office's GeoPackage, and what tablets begin with: the same without features, and without bounds that tell where they are.
feature oak 16.90 49.36 > oak.geojson
ogr2ogr -f GPKG office.gpkg oak.geojson -nln trees -lco GEOMETRY_NAME=geom
cp office.gpkg template.gpkg
sqlite3 template.gpkg "
  DELETE FROM trees;
  UPDATE gpkg_contents SET min_x = NULL, min_y = NULL, max_x = NULL, max_y = NULL;"

# A forester sees what lies in the own half.
cat > forest.json <<'END'
{ "dataset": "forest", "version": 1, "attributes": { "west": "real", "east": "real" },
  "tables": { "trees": { "visible": "ST_MinX(geom) >= :west AND ST_MaxX(geom) < :east", "keys": "blocks" } } }
END
satchel-hub init hub --dataset forest.json --database office.gpkg
satchel-hub -C hub user add ann west=16 east=17
satchel-hub -C hub user add ben west=17 east=18
for forester in ann ben; do
  satchel-hub -C hub device provision "$forester" --user "$forester" --into "$PWD/$forester" --template "$PWD/template.gpkg"
done

# Both map trees on one day, with an app that asks nobody for a number.
feature yew 16.97 49.50 > yew.geojson
feature elm 17.40 49.41 > elm.geojson
ogr2ogr -append ann/data.gpkg yew.geojson -nln trees
ogr2ogr -append ben/data.gpkg elm.geojson -nln trees
ogrinfo -q ann/data.gpkg -sql "UPDATE trees SET height = 13 WHERE kind = 'oak'"

courier ann ben

expect 'the office has all three trees' office.gpkg 'SELECT group_concat(kind) FROM (SELECT kind FROM trees ORDER BY kind)' elm,oak,yew
expect 'under three numbers, and nothing disagrees' office.gpkg 'SELECT count(DISTINCT fid), (SELECT count(*) FROM satchel_conflicts) FROM trees' '3|0'
expect "Ann's height of the oak came" office.gpkg "SELECT height FROM trees WHERE kind = 'oak'" 13
expect 'Ann sees the west alone' ann/data.gpkg 'SELECT group_concat(kind) FROM (SELECT kind FROM trees ORDER BY kind)' oak,yew
# GDAL finds them by its spatial index, which came along.
ogrinfo -q office.gpkg trees -spat 17.3 49.4 17.5 49.5 | grep 'kind (String) = elm' > found.txt
