#!/usr/bin/python3
"""Leaves out each member of the documents in bundles: then the canonical text must change, or the reader must refuse.

    members.py [-i IDENTITIES] FORMAT.md BUNDLE...

So a reader that drops a member gives another text. Also looks whether each member that FORMAT.md lists is in a bundle.
Prints a line for each problem and ends with 1, or the number of members and ends with 0. -i is as in reader.py.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # or the tests would leave a folder beside their sources
import reader
from validate import GONE, places, put

# Their members have any name, because they are columns, or the numbers of sums.
COLUMNS = {"row", "set", "was", "base_values", "hub_values", "device_values", "winners", "others", "sums"}
# The documents whose members a section of FORMAT.md lists. The sections below "Manifest" are about the manifest too.
SECTIONS = {"5. Manifest": "manifest.json", "Histories": "manifest.json", "Volumes": "manifest.json",
            "Backups": "manifest.json", "Enrolments": "manifest.json", "Changes": "changes.jsonl",
            "Conflicts": "conflicts.jsonl", "Resolutions": "resolutions.jsonl", "Migrations": "migrations.jsonl",
            "Attachments": "attachments.jsonl", "State": "state.json"}


def described(page):
    """The members that FORMAT.md lists in tables, as pairs of document and name."""
    names, document, is_table = set(), None, False
    for line in page.splitlines():
        if line.startswith("#"):
            document = SECTIONS.get(line.lstrip("# "))
        is_table = line.startswith("| member |") or is_table and line.startswith("|")
        if document and is_table:
            names |= {(document, name) for name in re.findall("`([a-z_]+)`", line.split("|")[1])}
    return names


def documents(path, secrets):
    """The documents in a bundle: their names, and their bytes."""
    with tempfile.TemporaryDirectory(prefix="members-") as folder:
        bundle = reader.open_bundle(path, folder, [], secrets)
        for name in bundle.names:
            entry = pathlib.Path(folder, name)
            if name.endswith(".jsonl"):
                yield from ((name, line) for line in reader.lines_of(entry))
            elif name == "state.json":
                yield name, entry.read_bytes()
        yield "manifest.json", bundle.source


def shape(name, document, path):
    """The members of all lines, elements and columns have the same shape. One member of each shape is tried."""
    steps = ["*" if isinstance(step, int) or before in COLUMNS else step for before, step in zip((None, *path), path)]
    return (name, document.get("kind"), document.get("op"), *steps)


def text_without(place, content, path, secrets):
    """The bundle's text if one document lacks the member at `place`; None if the reader refuses it."""
    parse = reader.parse
    reader.parse = lambda text: put(parse(text), place, GONE) if text == content else parse(text)
    try:
        return reader.read([path], [], secrets)
    except reader.Refused:
        return None
    finally:
        reader.parse = parse


def main():
    options = argparse.ArgumentParser(description="Leaves out each member of the documents in bundles.")
    options.add_argument("-i", metavar="IDENTITIES", help="a file with age identities")
    options.add_argument("page", metavar="FORMAT.md", help="the description of the format")
    options.add_argument("bundles", metavar="BUNDLE", nargs="+", help="a bundle or volume")
    given = options.parse_args()
    secrets = reader.read_identities(given.i) if given.i else []
    tried, found, problems = set(), set(), []
    for path in given.bundles:
        text = reader.read([path], [], secrets)
        for name, content in list(documents(path, secrets)):
            document = reader.parse(content)
            found |= {(name, member) for member in document}
            for place, _ in places(document):
                kind = shape(name, document, place)
                if isinstance(place[-1], str) and kind not in tried:
                    tried.add(kind)
                    if text_without(place, content, path, secrets) == text:
                        problems.append(f"{path}: {name}: the text is the same without {place}")
    missing = described(pathlib.Path(given.page).read_text()) - found
    problems += [f"no bundle has {member} in {name}" for name, member in sorted(missing)]
    print("\n".join(problems) or f"{len(tried)} members are in the text")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
