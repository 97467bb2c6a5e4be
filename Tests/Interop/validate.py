#!/usr/bin/python3
"""Checks what bundles say against the JSON Schemas of their documents.

    validate.py [-i IDENTITIES] [--self-test] SCHEMA_DIR BUNDLE...

Prints a line for each problem and ends with 1, or how many documents are valid and ends with 0; the schemas' examples are some.
-i names age identities, for encrypted bundles. --self-test spoils each document in many ways, which the schemas must refuse.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import jsonschema

sys.dont_write_bytecode = True  # or the tests would leave a folder beside their sources
import reader

SCHEMAS = {f"{name}s.jsonl": name for name in ("change", "resolution", "conflict", "migration", "attachment")} | {"dataset.json": "dataset"}

# The self-test has the format from here and not from the schemas, because they are what it tests.
OPTIONAL = {"recipient", "rotation", "revoked", "note", "snapshot", "encrypt", "escrow", "attributes", "attachments", "acknowledged_digest", "blobs",
            "file", "bundle", "lost", "understands", "compare", "before", "prove", "base", "former_exports",
            "received_digest", "received_signature", "brings", "original", "follows", "former", "collected", "known",
            "backed_up", "renamed", "health", "parity", "first", "more", "others", "proof", "continues", "unit"}
ROWS = {"key", "to", "row", "set", "was", "base_values", "hub_values", "device_values"}
OPS = {"insert": ["generation", "row"], "update": ["generation", "set", "was"], "delete": ["generation", "was"], "row": ["row"],
       "gone": [], "rekey": ["to", "number"], "block": ["to", "number"]}
OF_OPS = {"generation": 1, "row": {"id": 1}, "set": {"id": 1}, "was": {"id": 1}, "to": [1], "number": 1}
CHAIN = [{"sequence": number, "digest": "0" * 128} for number in range(1, 258)]
ROTATION, REVOKED = {"key": "RW" + "Q" * 54, "recipient": "age1" + "q" * 58}, {"number": 1, "keys": []}
WRONG_TEXTS = {**dict.fromkeys(["table", "note", "visible", "write", "parents", "sql", "attachments", "understands", "received_signature"], []),
               **dict.fromkeys(["user", "decided_by"], ["a\n", "\x7f", "a" * 101]),
               **dict.fromkeys(["path", "lost"], ["", "/a", "a/", "a//b", "../a", "a/.b", "a.", "a ", " a", "a:b",
                                                 "a\\b", "a\n", "\x7f", "nul", "a/COM1.x", "Con .x", "com\u00b9",
                                                 "conin$"]),
               **dict.fromkeys(["dataset", "from", "to"], ["", "Hub", "con", "lpt1", "-a", "a.b", "ä", "a\n", "a" * 41])}
WRONG_INTEGERS = ["9007199254740991", "09007199254740992", "9007199254740992\n", "9223372036854775808", "-9223372036854775809"]
WRONG_VALUES = [True, [], {}, "a\0b", 1e400, {"blob": "A"}, {"blob": "AB=="}, {"blob": "AA==\n"}, {"blob": "", "more": ""},
                {"text": ""}, {"real": "nan"}, *({"integer": digits} for digits in WRONG_INTEGERS)]
WRONG_RULES = [{}, {"sqlite_a": {}}, {"Satchel_a": {}}, {"a": {"more": 1}}, {"a": {"block": 9}}, {"a": {"block": 100}},
               {"a": {"key": []}}, {"a": {"key": ["b", "b"]}}, {"a": {"key": "b"}}]
WRONG_ATTRIBUTES = [{"user": "text"}, {"1a": "text"}, {"a\n": "text"}, {"satchel_a": "text"}, {"a": "blob"}]
GONE = object()


def load(folder):
    """A validator for each schema in a folder, by its name."""
    schemas = {path.name.split(".")[0]: json.loads(path.read_bytes()) for path in pathlib.Path(folder).glob("*.schema.json")}
    resolver = jsonschema.RefResolver("", {}, {schema["$id"]: schema for schema in schemas.values()})
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: jsonschema.Draft202012Validator(schema, resolver=resolver) for name, schema in schemas.items()}


def documents(path, secrets):
    """Each document in a bundle: its place, its schema and its content."""
    with tempfile.TemporaryDirectory(prefix="validate-") as folder:
        bundle = reader.open_bundle(path, folder, [], secrets)
        yield f"{path}: manifest.json", "manifest", bundle.manifest
        for name in [name for name in bundle.names if name in SCHEMAS]:
            entry = pathlib.Path(folder, name)
            for number, text in enumerate(reader.lines_of(entry) if name.endswith(".jsonl") else [entry.read_bytes()], 1):
                yield f"{path}: {name}:{number}", SCHEMAS[name], reader.parse(text)


def places(item, path=()):
    """Each part of a document, with the way to it."""
    for step, part in item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ():
        yield (*path, step), part
        yield from places(part, (*path, step))


def put(document, path, new):
    """A copy of the document with something else in this place, or nothing."""
    copy = document.copy()
    copy[path[0]] = put(copy[path[0]], path[1:], new) if len(path) > 1 else new
    if copy[path[0]] is GONE:
        del copy[path[0]]
    return copy


def wrongs(kind, path, item):
    """Values that this place must not have, whatever else the document contains."""
    name = next(step for step in reversed(path) if isinstance(step, str))
    if kind in ("change", "conflict") and path[0] in ROWS and len(path) > 1:
        return WRONG_VALUES if len(path) == 2 else [True, "!"]
    is_of_columns = kind == "dataset" and ("references" in path or name == "key")
    if len(path) > 1:
        is_needed = kind == "manifest" and name not in ("proof", "doctor")
    else:
        is_needed = name not in OPTIONAL and (kind, name) != ("attachment", "was")
    wrong = [True] + [GONE] * (not is_of_columns and isinstance(path[-1], str) and is_needed)
    if isinstance(item, bool):
        return ["true", 1, [], None]
    if isinstance(item, int):
        return wrong + ["7", -1, 1.5, 2**53 if name != "snapshot" else 2**63, [], None]
    if isinstance(item, list):
        return wrong + ["x", {}, None] + [[]] * (path[0] in ("key", "to"))
    if not isinstance(item, str):
        return wrong + ["x", []] + [None] * (item is not None and name not in ("hub_values", "before"))
    other = [item + "x", item + "\n", ""] + [item.upper()] * (name not in ("key", "keys") and item.upper() != item)
    # Columns may be called anything.
    rule = "parents" if is_of_columns or path[0] == "renamed" else path[0] if name == "name" else name
    return wrong + [1.5, [], {}] + [None] * (name != "before") + WRONG_TEXTS.get(rule, other)


def contradictions(kind, document):
    """Values that the first of these places must not have, because of the values in the others."""
    if kind == "change":
        members = OPS[document["op"]]
        yield from [("op", op) for op in OPS if OPS[op] != members] + [("row", {}), ("set", {}), ("was", {})]
        yield from [(name, new) for name, new in OF_OPS.items() if name not in members]
        yield from [("stamp", "0000000000000001")] * (members in (OPS["gone"], OPS["rekey"]))
    elif kind == "attachment":
        yield from [("op", "has"), ("bytes", GONE)] if document["op"] == "file" else [("op", "file"), ("bytes", 1)]
    elif kind == "conflict":
        yield from (("op", op) for op in ("insert", "update", "delete") if op != document["op"])
        yield from [("state", "open" if document["state"] == "resolved" else "resolved"), ("winners", {"stars": "both"})]
    elif kind == "dataset":
        yield from [("more", 1), ("version", 0), ("snapshot", 0), ("escrow", [ROTATION["recipient"]] * 17)]
        yield from [("tables", new) for new in WRONG_RULES] + [("attributes", new) for new in WRONG_ATTRIBUTES]
    elif kind == "manifest":
        kind, entries, counts = document["kind"], document["entries"], document["counts"]
        spoilt = [entries[::-1], entries * 2] + [[*entries, {"name": name, "bytes": 1}] for name in ("part", "blobs")]
        yield from [("entries", new) for new in spoilt if new != entries] + [("format", 2), ("critical", ["newer"])]
        yield from [("counts", {**counts, name: int(not number)}) for name, number in counts.items()]
        yield from [("kind", other) for other in ("changes", "scope", "enrolment", "volume", "backup") if other != kind]
        yield from [("version", 0), ("created", "2026-02-30T00:00:00Z"), ("created", "2026-02-28T23:59:60Z"),
                    ("critical", ["keys"] * (1 + bool(counts["changes"])))]
        if kind == "scope":
            yield from [("after", int(document["after"] == 0)), ("extent", "full" if document["after"] else "delta")]
        else:
            yield from [("revoked", REVOKED), ("chain", CHAIN) if kind == "changes" else ("rotation", ROTATION)]


def main():
    options = argparse.ArgumentParser(description="Checks bundles against the JSON Schemas of their documents.")
    options.add_argument("-i", metavar="IDENTITIES", help="a file with age identities")
    options.add_argument("--self-test", action="store_true", help="spoil the documents: the schemas must refuse them")
    options.add_argument("folder", metavar="SCHEMA_DIR", help="where the schemas are")
    options.add_argument("bundles", metavar="BUNDLE", nargs="+", help="a bundle or volume")
    given = options.parse_args()
    validators, problems, tried = load(given.folder), [], 0
    found = [(name, name, example) for name, of in validators.items() for example in of.schema.get("examples", [])]
    for path in given.bundles:
        try:
            found += documents(path, reader.read_identities(given.i) if given.i else [])
        except reader.Refused as error:
            problems.append(f"{path}: refused: {error}")
    for place, kind, document in found:
        refusals = [f"{place}: {error.json_path}: {error.message:.200}" for error in validators[kind].iter_errors(document)]
        problems += refusals
        if given.self_test and not refusals:
            spoilt = [(path, new) for path, item in places(document) for new in wrongs(kind, path, item)]
            spoilt += [((name,), new) for name, new in contradictions(kind, document)]
            tried += len(spoilt)
            problems += [f"{place}: taken with {path} {'left out' if new is GONE else f'= {new!r:.80}'}"
                         for path, new in spoilt if validators[kind].is_valid(put(document, path, new))]
    print("\n".join(problems) or f"{len(found)} documents are valid{f', {tried} spoilt ones are refused' * given.self_test}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
