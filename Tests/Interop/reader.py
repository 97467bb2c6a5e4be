#!/usr/bin/env python3
"""A reader of Satchel bundles, written from docs/FORMAT.md alone.

Prints a bundle as text of one canonical form, or says why it is refused and ends with 3.

    reader.py FILE KEY.pub      with the key that is trusted
    reader.py FILE              a first contact: with the key that the bundle names

It needs Python's standard library and the tools zstd and minisign.
"""

import base64
import hashlib
import json
import math
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

NAMES = ["B2SUMS.minisig", "B2SUMS", "manifest.json", "changes.jsonl", "resolutions.jsonl", "conflicts.jsonl", "dataset.json",
         "snapshot.sqlite"]
LINES = ["changes.jsonl", "resolutions.jsonl", "conflicts.jsonl"]
LARGEST = 2**53 - 1


class Refused(Exception):
    pass


def must(truth, why):
    if not truth:
        raise Refused(why)


# Container (section 1)


def octal(field):
    match = re.fullmatch(rb"([0-7]+)[ \0]*", field)
    return int(match[1], 8) if match else None


def entries(tar):
    """The entries of a tar, as pairs of name and content."""
    found, place, size = [], 0, None
    while True:
        block = tar[place:place + 512]
        must(len(block) == 512, "truncated")
        if not any(block):
            rest = tar[place:]
            must(1024 <= len(rest) < 65536 + 512 and not any(rest), "trailing data")
            return found
        must(block[257:265] in (b"ustar\x0000", b"ustar  \x00"), "no tar")
        total = sum(block[:148]) + 8 * 32 + sum(block[156:])
        must(re.fullmatch(rb"[0-7]{6}\0 ", block[148:156]) and int(block[148:154], 8) == total, "checksum")
        length = octal(block[124:136])
        if length is None:
            must(block[124] == 0x80, "size")
            length = int.from_bytes(block[125:136], "big")
        kind = block[156:157]
        if kind == b"x" and size is None:
            must(length <= 1024, "pax header too large")
            size = pax_size(tar[place + 512:place + 512 + length])
            size = (size,)
            place += 512 + length + -length % 512
            continue
        if size is not None and size[0] is not None:
            length = size[0]
        size = None
        name = block[:100].rstrip(b"\0")
        must(kind in (b"0", b"\0") and b"\0" not in name and not any(block[157:257]) and not any(block[345:]), "no plain file")
        content = tar[place + 512:place + 512 + length]
        padding = tar[place + 512 + length:place + 512 + length + -length % 512]
        must(len(content) == length and len(padding) == -length % 512, "truncated")
        must(not any(padding), "bytes between entries")
        found.append((name.decode("ascii"), content))
        place += 512 + length + -length % 512


def pax_size(records):
    size = None
    while records:
        match = re.match(rb"(\d{1,4}) ([a-z]+)=", records)
        must(match and match[2] in (b"size", b"mtime", b"atime", b"ctime"), "pax header")
        record, records = records[:int(match[1])], records[int(match[1]):]
        must(len(record) == int(match[1]) and record.endswith(b"\n"), "pax header")
        if match[2] == b"size":
            must(size is None, "pax header")
            size = int(record[match.end():-1])
    return size


# Digests and signature (sections 2 and 3)


def check_signature(folder, key_file):
    with open(os.path.join(folder, "B2SUMS.minisig"), encoding="utf-8", newline="\n") as file:
        text = file.read()
    lines = text.split("\n")
    must(len(text.encode()) <= 2048 and len(lines) == 5 and lines[4] == "", "signature")
    must(lines[0] == "untrusted comment: signature of B2SUMS in a Satchel bundle", "untrusted comment")
    must(lines[2].startswith("trusted comment: "), "signature")
    must(base64.b64decode(lines[1], validate=True)[:2] == b"ED", "signature")
    comment = lines[2][len("trusted comment: "):]
    if key_file is None:
        claims = [word for word in comment.split(" ") if word.startswith("key=")]
        must(claims, "no key")
        key = claims[-1][len("key="):]
    else:
        with open(key_file, encoding="utf-8") as file:
            key = file.read().split("\n")[1].strip()
    tool = subprocess.run(["minisign", "-V", "-H", "-q", "-P", key, "-m", "B2SUMS"], cwd=folder, capture_output=True, check=False)
    must(tool.returncode == 0, "bad signature")
    return key, comment


def check_sums(sums):
    must(sums.endswith(b"\n"), "B2SUMS")
    digests = {}
    for line in sums[:-1].split(b"\n"):
        match = re.fullmatch(rb"([0-9a-f]{128})  (.+)", line)
        must(match, "B2SUMS")
        name = match[2].decode("ascii")
        must(name in NAMES[2:], "newer format")
        must(not digests or NAMES.index(list(digests)[-1]) < NAMES.index(name), "order of B2SUMS")
        digests[name] = match[1].decode()
    return digests


# JSON (section 4)


class Integer(int):
    """A number that was written without point and exponent."""


def members(pairs):
    must(len({name for name, _ in pairs}) == len(pairs), "a member stands twice")
    return dict(pairs)


def refuse(word):
    raise Refused(word)


def parse(text):
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse, parse_int=Integer)
    except (ValueError, RecursionError) as error:
        raise Refused(f"JSON: {error}") from error


def unbase64(text):
    content = base64.b64decode(text, validate=True)
    must(base64.b64encode(content).decode() == text, "base64")
    return content


def value(item):
    """A value in the canonical text: its storage class and what it holds."""
    if item is None:
        return "null"
    if isinstance(item, bool) or isinstance(item, list):
        raise Refused("no value")
    if isinstance(item, Integer):
        must(-LARGEST <= item <= LARGEST, "an integer without its tag")
        return f"integer {int(item)}"
    if isinstance(item, float):
        must(math.isfinite(item), "no value")
        return real(item)
    if isinstance(item, str):
        must("\0" not in item, "text without its tag")
        return "text " + item.encode("utf-8").hex()
    must(len(item) == 1, "no value")
    [(tag, text)] = item.items()
    must(isinstance(text, str), "no value")
    if tag == "integer":
        must(str(int(text)) == text and abs(int(text)) > LARGEST and -2**63 <= int(text) < 2**63, "an integer's tag")
        return f"integer {text}"
    if tag == "real":
        must(text in ("inf", "-inf"), "a real's tag")
        return real(float(text))
    if tag == "text":
        content = unbase64(text)
        try:
            must(b"\0" in content or content.decode("utf-8") is None, "a text's tag")
        except UnicodeDecodeError:
            pass
        return "text " + content.hex()
    must(tag == "blob", "no value")
    return "blob " + unbase64(text).hex()


def real(number):
    return "real " + struct.pack(">d", number).hex()


def count(number, least=0):
    must(isinstance(number, Integer) and least <= number <= LARGEST, "no count")
    return int(number)


def matching(pattern):
    def check(text):
        must(isinstance(text, str) and re.fullmatch(pattern, text, re.ASCII), f"{text!r} is of another form")
        return text
    return check


identifier = matching("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
name_of = matching("[a-z0-9][a-z0-9_-]{0,39}")
stamp = matching("[0-7][0-9a-f]{15}")
digest = matching("[0-9a-f]{128}")
time = matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
conflict_id = matching("[0-9a-f]{32}")


def word(*words):
    def check(text):
        must(text in words, f"{text!r} is none of {words}")
        return text
    return check


def text_of(text):
    must(isinstance(text, str), "no text")
    return "text " + text.encode("utf-8").hex()


def key_of(parts):
    must(isinstance(parts, list) and parts, "no key")
    return "[" + ", ".join(value(part) for part in parts) + "]"


def row(item):
    must(isinstance(item, dict), "no row")
    return "{" + ", ".join(f"{name.encode('utf-8').hex()}: {value(part)}" for name, part in item.items()) + "}"


def row_or_null(item):
    return "none" if item is None else row(item)


def take(document, name, check):
    must(name in document, f"{name} is missing")
    return check(document[name])


# Manifest (section 5)


def chain_of(links):
    must(isinstance(links, list) and len(links) <= 256 and all(isinstance(link, dict) for link in links), "no chain")
    pairs = [(take(link, "sequence", lambda n: count(n, 1)), take(link, "digest", digest)) for link in links]
    must(all(one[0] < other[0] for one, other in zip(pairs, pairs[1:])), "order of the chain")
    return "[" + ", ".join(f"{sequence} {of}" for sequence, of in pairs) + "]"


def read_manifest(document):
    """The manifest as lines of canonical text."""
    must(isinstance(document, dict), "manifest")
    must(take(document, "format", count) == 1, "newer format")
    critical = document.get("critical")
    must(critical in ([], ["keys"]), "newer format")
    kind = take(document, "kind", word("changes", "scope", "enrolment"))
    shown = [("format", 1), ("kind", kind), ("bundle", take(document, "bundle", identifier)),
             ("dataset", take(document, "dataset", name_of)), ("version", take(document, "version", lambda n: count(n, 1)))]
    for end in ("from", "to"):
        party = take(document, end, lambda item: item if isinstance(item, dict) else refuse("no party"))
        shown.append((end, take(party, "id", identifier) + " " + take(party, "name", name_of)))
    shown += [("user", take(document, "user", text_of)), ("created", take(document, "created", time)),
              ("stamp", take(document, "stamp", stamp))]
    counts = take(document, "counts", lambda item: item if isinstance(item, dict) else refuse("no counts"))
    shown += [(f"{name} lines", take(counts, name, count)) for name in ("changes", "resolutions", "conflicts")]
    if critical:
        shown.append(("critical", ", ".join(critical)))
    if kind != "enrolment":
        shown.append(("epoch", take(document, "epoch", identifier)))
    if kind != "scope":
        shown.append(("incarnation", take(document, "incarnation", identifier)))
    if kind == "changes":
        shown += [("received", take(document, "received", count)), ("sequence", take(document, "sequence", lambda n: count(n, 1))),
                  ("chain", take(document, "chain", chain_of))]
        must(all(link["sequence"] < document["sequence"] for link in document["chain"]), "chain")
    if kind == "scope":
        extent = take(document, "extent", word("full", "delta"))
        number, after = take(document, "number", lambda n: count(n, 1)), take(document, "after", count)
        must(after == 0 if extent == "full" else 1 <= after < number, "after")
        shown += [("number", number), ("after", after), ("extent", extent),
                  ("acknowledged", take(document, "acknowledged", count))]
    if kind == "enrolment":
        shown.append(("key", take(document, "key", matching("[A-Za-z0-9+/]{56}"))))
    return shown


def comment_of(shown, key):
    said = dict(shown)
    number = said.get("sequence", said.get("number", 0))
    ends = [said[end].split(" ")[0] for end in ("from", "to")]
    return (f"satchel {said['kind']} {said['bundle']} dataset={said['dataset']} from={ends[0]} to={ends[1]} "
            f"number={number} key={key}")


def check_places(said, present):
    for name in LINES:
        must((said[name.removesuffix(".jsonl") + " lines"] > 0) == (name in present), f"count of {name}")
    if said["kind"] == "changes":
        needed, allowed = [], LINES + ["snapshot.sqlite"]
    elif said["kind"] == "enrolment":
        needed, allowed = [], []
    elif said["extent"] == "full":
        needed, allowed = ["dataset.json", "snapshot.sqlite"], ["conflicts.jsonl", "dataset.json", "snapshot.sqlite"]
        if "critical" in said:
            allowed.append("changes.jsonl")
    else:
        needed, allowed = [], ["changes.jsonl", "conflicts.jsonl", "dataset.json"]
    must(all(name in present for name in needed) and all(name in allowed for name in present), "entries of its kind")


# Lines (section 6)


def show_change(line):
    operation = take(line, "op", word("insert", "update", "delete", "row", "gone", "rekey", "block"))
    if operation in ("rekey", "block"):
        return show_keys(line, operation)
    parts = {"insert": ["row"], "update": ["set", "was"], "delete": ["was"], "row": ["row"], "gone": []}[operation]
    must({"row", "set", "was"} & set(line) == set(parts), "members of a change")
    must(("generation" in line) == (operation in ("insert", "update", "delete")), "generation")
    shown = ["change", operation, take(line, "table", text_of), take(line, "key", key_of)]
    if "generation" in line:
        shown.append(f"generation {take(line, 'generation', count)}")
    shown.append(take(line, "stamp", stamp))
    return " | ".join(shown + [f"{name} {take(line, name, row)}" for name in parts])


def show_keys(line, operation):
    must(not {"row", "set", "was", "generation"} & set(line), "members of a line about keys")
    return " | ".join(["change", operation, take(line, "table", text_of), take(line, "key", key_of), take(line, "stamp", stamp),
                       "to " + take(line, "to", key_of), f"number {take(line, 'number', count)}"])


def show_conflict(line):
    winners = take(line, "winners", lambda item: item if isinstance(item, dict) else refuse("winners"))
    side = word("hub", "device")
    shown = [
        "conflict", take(line, "conflict", conflict_id), take(line, "device", identifier), take(line, "user", text_of),
        take(line, "table", text_of), take(line, "op", word("insert", "update", "delete")), take(line, "key", key_of),
        f"generation {take(line, 'generation', count)}", take(line, "stamp", stamp),
        take(line, "kind", word("update/update", "delete/update", "update/delete", "insert/insert", "unique", "foreign key",
                                "constraint", "forbidden", "revoked")),
        take(line, "state", word("open", "settled", "held", "resolved")), "base " + take(line, "base_values", row_or_null),
        "hub " + take(line, "hub_values", row_or_null), "device " + take(line, "device_values", row_or_null),
        "winners {" + ", ".join(f"{name.encode('utf-8').hex()}: {side(who)}" for name, who in winners.items()) + "}",
        take(line, "winner", side)]
    is_decided = line["state"] == "resolved"
    must(("decision" in line) == is_decided and ("decided_by" in line) == is_decided, "a decision")
    if is_decided:
        shown += ["decided " + take(line, "decision", word("hub", "device", "set")), take(line, "decided_by", text_of)]
    return " | ".join(shown + ([take(line, "note", text_of)] if "note" in line else []))


def show_resolution(line):
    shown = ["resolution", take(line, "conflict", conflict_id), take(line, "decision", word("hub", "device", "set")),
             take(line, "user", text_of), f"generation {take(line, 'generation', count)}", take(line, "stamp", stamp)]
    return " | ".join(shown + ([take(line, "note", text_of)] if "note" in line else []))


SHOW = {"changes.jsonl": show_change, "resolutions.jsonl": show_resolution, "conflicts.jsonl": show_conflict}


def show_lines(name, content, expected, said):
    must(content.endswith(b"\n"), "a last line without its end")
    lines = content[:-1].split(b"\n")
    must(len(lines) == expected, f"count of {name}")
    shown = [SHOW[name](parse(line)) for line in lines]
    about_keys = [line.startswith(("change | rekey | ", "change | block | ")) for line in shown]
    must("critical" in said or not any(about_keys), "lines about keys that the manifest does not announce")
    must(said.get("extent") != "full" or name != "changes.jsonl" or all(about_keys), "rows outside of the snapshot")
    return shown


# Snapshot (section 8)


def show_snapshot(path):
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    database.text_factory = bytes
    must(database.execute("PRAGMA integrity_check").fetchall() == [(b"ok",)], "integrity")
    must(not database.execute("SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index')").fetchall(), "schema")
    tables = [name.decode() for (name,) in database.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    shown = []
    for table in sorted(tables, key=lambda name: name.encode()):
        quoted = '"' + table.replace('"', '""') + '"'
        columns = [item[1].decode() for item in database.execute(f"PRAGMA table_info({quoted})")]
        selected = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
        kinds = ", ".join('typeof("' + column.replace('"', '""') + '")' for column in columns)
        rows = database.execute(f"SELECT {selected}, {kinds} FROM {quoted}").fetchall()
        texts = []
        for items in rows:
            half = len(columns)
            cells = [f"{name.encode().hex()}: {stored(item, kind)}" for name, item, kind in
                     zip(columns, items[:half], items[half:])]
            texts.append("snapshot | text " + table.encode().hex() + " | {" + ", ".join(cells) + "}")
        shown += sorted(texts)
    return shown


def stored(item, kind):
    kind = kind.decode()
    if kind == "null":
        return "null"
    if kind == "integer":
        return f"integer {item}"
    if kind == "real":
        return real(item)
    return f"{kind} {item.hex()}"


# Reading, in order (section 11)


def read(path, key_file):
    with open(path, "rb") as file:
        must(file.read(4) == b"\x28\xb5\x2f\xfd", "no zstd")
    tool = subprocess.run(["zstd", "-q", "-d", "-c", path], capture_output=True, check=False)
    must(tool.returncode == 0, "zstd")
    found = entries(tool.stdout)
    names = [name for name, _ in found]
    must(names[:3] == NAMES[:3], "the first entries")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in found:
            must(name in NAMES, "an unknown entry")
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        key, comment = check_signature(folder, key_file)
        digests = check_sums(found[1][1])
        must(list(digests) == names[2:], "entries are not those of B2SUMS")
        for name, content in found[2:]:
            must(hashlib.blake2b(content).hexdigest() == digests[name], f"digest of {name}")
        document = parse(found[2][1])
        shown = read_manifest(document)
        said = dict(shown)
        must(comment == comment_of(shown, key), "the signature's comment")
        listed = [(item["name"], item["bytes"]) for item in document["entries"]]
        must(listed == [(name, len(content)) for name, content in found[3:]], "the manifest's entries")
        check_places(said, names[3:])
        must(said.get("key", key) == key, "the key of an enrolment")

        text = [f"{name}: {item}" for name, item in shown] + [f"signer: {key}"]
        for name, content in found[3:]:
            if name in LINES:
                text += show_lines(name, content, said[name.removesuffix(".jsonl") + " lines"], said)
            elif name == "dataset.json":
                text.append("dataset | " + content.hex())
            else:
                text += show_snapshot(os.path.join(folder, name))
        return "\n".join(text) + "\n"


def main():
    try:
        sys.stdout.write(read(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
