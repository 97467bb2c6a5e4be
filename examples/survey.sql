-- A household survey: 4 regions, 1,000 households, 3,000 visits. The same rows every time.
CREATE TABLE regions (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE assignments (
  surveyor TEXT NOT NULL,
  region TEXT NOT NULL REFERENCES regions (id),
  PRIMARY KEY (surveyor, region)
);
CREATE TABLE households (
  id TEXT PRIMARY KEY,
  region TEXT NOT NULL REFERENCES regions (id),
  head TEXT NOT NULL,
  members INTEGER NOT NULL CHECK (members > 0),
  water TEXT
);
CREATE TABLE visits (
  id TEXT PRIMARY KEY,
  household TEXT NOT NULL REFERENCES households (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  surveyor TEXT NOT NULL,
  notes TEXT,
  weight REAL
);
CREATE INDEX households_by_region ON households (region);
CREATE INDEX visits_by_household ON visits (household);

INSERT INTO regions VALUES ('north', 'North'), ('south', 'South'), ('east', 'East'), ('west', 'West');
INSERT INTO assignments VALUES ('ann', 'north'), ('ann', 'east'), ('ben', 'south');

WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
INSERT INTO households
SELECT printf('h%04d', i), CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END, 'Family ' || i, 1 + i * 7 % 9,
  CASE i % 3 WHEN 0 THEN 'well' WHEN 1 THEN 'river' END
FROM n;

WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
INSERT INTO visits
SELECT printf('v%05d', i), printf('h%04d', i % 1000), date('2026-01-01', '+' || (i / 100) || ' days'), 'office', NULL, 40.5 + (i % 50)
FROM n;
