#!/usr/bin/python3
"""Computes the digests in bundles once more, from docs/FORMAT.md alone: ids of conflicts, digests of rows, their sums.

    digests.py [-i IDENTITIES] BUNDLE...

The rows come from full bundles: a bundle that names such a bundle states digests of its rows. Prints a line for each
digest that is different and ends with 1. Otherwise prints the number of the digests, by kind, and ends with 0. The
option -i is as in reader.py.
"""

import argparse
import base64
import collections
import contextlib
import hashlib
import json
import math
import os
import sqlite3
import sys
import tempfile

sys.dont_write_bytecode = True  # or the tests would leave a folder beside their sources
import reader


def spelled(item):
    """Canonical JSON (section 4)."""
    if isinstance(item, dict):
        return "{" + ",".join(f"{spelled(name)}:{spelled(part)}" for name, part in item.items()) + "}"
    if isinstance(item, list):
        return "[" + ",".join(map(spelled, item)) + "]"
    if isinstance(item, float) and 2**53 < abs(item) < 1e16:  # Python writes these without an exponent
        sign, digits = "-" * (item < 0), str(abs(int(item))).rstrip("0")
        return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e+15"
    return json.dumps(item, ensure_ascii=False)


def as_value(item, kind):
    """A value of SQLite as a line has it."""
    if kind == b"text":
        return item.decode("utf-8") if b"\0" not in item else {"text": base64.b64encode(item).decode()}
    if kind == b"integer":
        return item if abs(item) <= reader.LARGEST_COUNT else {"integer": str(item)}
    if kind == b"real":
        return item if math.isfinite(item) else {"real": f"{item}"}
    return None if kind == b"null" else {"blob": base64.b64encode(item).decode()}


def digest_of(item, size):
    return hashlib.blake2b(spelled(item).encode(), digest_size=size).hexdigest()


# Conflicts (section 6)


def conflict_ids(line):
    """The two ids that a conflict can have."""
    def flat(values):
        return [part for pair in (values or {}).items() for part in pair]
    stamp = as_value(int(line["stamp"], 16), b"integer")
    change = [line["device"], line["table"], *line["key"], line["generation"], stamp, line["op"]]
    first = digest_of(change + flat(line["device_values"]), 16)
    return [first, digest_of([first] + flat(line["hub_values"]), 16)]


# Rows (section 6, state)


class Rows:
    """The rows of a full bundle, by table and by key."""

    def __init__(self, folder):
        with open(os.path.join(folder, "dataset.json"), "rb") as file:
            rules = reader.parse(file.read())["tables"]
        self.rows, self.columns = {}, {}
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "snapshot.sqlite"))) as database:
            database.text_factory = bytes
            for table, rule in rules.items():
                self.read(database, table, rule.get("key"))

    def read(self, database, table, names):
        info = database.execute(f"PRAGMA table_info({reader.quoted(table)})").fetchall()
        primary = [part[1].decode() for part in sorted(info, key=lambda part: part[5]) if part[5]]
        # A key of other columns names the rows, and the primary key is then local.
        local = primary if names and names != primary else []
        columns = sorted((part[1].decode() for part in info if part[1].decode() not in local), key=str.encode)
        wanted = ", ".join(f"{reader.quoted(column)}, typeof({reader.quoted(column)})" for column in columns)
        self.rows[table], self.columns[table] = {}, columns
        for cells in database.execute(f"SELECT {wanted} FROM {reader.quoted(table)}"):
            row = {name: as_value(*cells[2 * place:2 * place + 2]) for place, name in enumerate(columns)}
            self.rows[table][spelled([row[name] for name in names or primary])] = row

    def digest(self, table, key):
        """The digest of a row; None if there is no such row."""
        row = self.rows[table].get(spelled(key))
        return None if row is None else digest_of({"table": table, "key": key, "row": row}, 32)

    def state(self, table):
        """The statement of state.json about a table."""
        sums = collections.Counter()
        for key in self.rows[table]:
            place = int(digest_of(json.loads(key), 32)[:2], 16) >> 2
            sums[place] += int(self.digest(table, json.loads(key)), 16)
        shown = {str(place): f"{total % 2**256:064x}" for place, total in sorted(sums.items()) if total % 2**256}
        return {"table": table, "columns": self.columns[table], "rows": len(self.rows[table]), "sums": shown}


class Check:
    def __init__(self):
        self.right, self.problems = collections.Counter(), []

    def expect(self, is_right, what, where):
        if is_right:
            self.right[what] += 1
        else:
            self.problems.append(f"{where}: {what}")

    def bundle(self, path, folder, bundle, whole):
        """Checks the digests in one bundle. `whole` has the rows of full bundles, by the digest of B2SUMS."""
        lines = {name: [reader.parse(line) for line in reader.lines_of(os.path.join(folder, name))]
                 for name in bundle.names if name in reader.LINES}
        for line in lines.get("conflicts.jsonl", []):
            self.expect(line["conflict"] in conflict_ids(line), "conflicts", f"{path}: {line['conflict']}")
        rows = whole.get(bundle.manifest.get("received_digest"))
        if rows and "state.json" in bundle.names:
            with open(os.path.join(folder, "state.json"), "rb") as file:
                for table in reader.parse(file.read())["tables"]:
                    self.expect(table == rows.state(table["table"]), "tables", f"{path}: {table['table']}")
        follows = bundle.manifest.get("follows", [])
        rows = whole.get(follows[0]["digest"]) if len(follows) == 1 else None
        for line in lines.get("changes.jsonl", []) if rows else []:
            if "before" in line:
                digest = rows.digest(line["table"], line["key"])
                self.expect((digest and digest[:16]) in line["before"], "rows", f"{path}: {line['key']}")


def main():
    options = argparse.ArgumentParser(description="Computes the digests in bundles once more.")
    options.add_argument("-i", metavar="IDENTITIES", help="a file with age identities")
    options.add_argument("bundles", metavar="BUNDLE", nargs="+", help="a bundle or volume")
    given = options.parse_args()
    secrets = reader.read_identities(given.i) if given.i else []
    with contextlib.ExitStack() as stack:
        opened, whole, check = [], {}, Check()
        for path in given.bundles:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="digests-"))
            bundle = reader.open_bundle(path, folder, [], secrets)
            opened.append((path, folder, bundle))
            if bundle.manifest.get("extent") == "full":
                whole[bundle.digest] = Rows(folder)
        for each in opened:
            check.bundle(*each, whole)
    print("\n".join(check.problems) or ", ".join(f"{number} {what}" for what, number in sorted(check.right.items())))
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
