#!/usr/bin/env python3
"""Checks that comments, code and documents stay plain: short lines, short sentences, none of the odd phrases below.

  scripts/check-english.py               compares the counts of this tree with scripts/check-english.json
  scripts/check-english.py --update      writes the present counts, if no count has risen
  scripts/check-english.py --list WORDS  prints each place whose rule contains WORDS, as file:line: rule: text
  scripts/check-english.py --self-test   plants each phrase in a small tree and expects it to be found

Counts may only fall. A higher count fails; a lower count asks for --update. Standard library only.
"""
import io
import json
import pathlib
import re
import sys
import tempfile

COLUMNS = 120
WORDS = 30
LONG_LINE = f"line over {COLUMNS} columns"
LONG_SENTENCE = f"sentence over {WORDS} words"

# The start of a text or of a sentence in it.
START = r"(?:^|(?<=[.!?:;] ))"

# Each rule has a name and a pattern. The patterns are searched in comments, string literals and prose.
RULES = {
    'What ...': START + r"What\b(?![^.!]*\?)",
    'Of ...': START + r"Of\b",
    'Where ...': START + r"Where\b(?![^.!]*\?)",
    ', where': r", where\b",
    'one that': r"\bones? (?:that|who|whose|of which|in which|on which|from which|to which)\b",
    'somebody, nobody, anybody': r"\b(?:[Ss]ome|[Nn]o|[Aa]ny)body\b",
    'stands': r"\b[Ss]tands?\b",
    'told, tells': r"\b[Tt](?:old|ells?|elling)\b",
    'anew': r"\b[Aa]new\b",
    'hears, wants, owes': r"\b(?:[Hh]ears?|[Hh]eard|[Ww]ants?|[Oo]we[sd]?)\b",
    # Such as "a bundle of the hub's" for "a bundle from the hub".
    'inverted genitive':
        r"\b[Oo]f (?:the |a |an |another )?\w+'s(?=[.,;:)]|$| (?:is|are|was|were|has|have|had|that|which|and|or|to|in|at|on"
        r"|for|from|by|with)\b)",
}
RULES = {name: re.compile(pattern) for name, pattern in RULES.items()}

# The areas of the tree: which files, and how their text is found.
AREAS = {
    "Sources": [("Sources", "*.swift"), ("Sources", "*.h")],
    "Tests": [("Tests", "*.swift"), ("Tests", "*.py")],
    "documents": [(".", "*.md"), ("docs", "**/*.md"), ("bundles", "*.md"), ("examples", "**/*.md")],
    "scripts": [("scripts", "*.sh"), ("scripts", "*.py"), (".", "Makefile"), (".", "Package.swift")],
}

DATA = "scripts/check-english.json"


def files(root, area):
    found = set()
    for folder, pattern in AREAS[area]:
        base = root / folder
        if base.is_dir():
            found.update(base.glob(pattern) if "/" in pattern or folder == "." else base.rglob(pattern))
    return sorted(path for path in found if path.is_file())


def spoken_code(line, suffix):
    """The comment and the string literals of a line of code."""
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    comment = re.search(r"//[/!]?\s?(.*)", line) if suffix in (".swift", ".h") else re.search(r"(?:^|\s)#\s?(.*)", line)
    if comment and line[:comment.start()].count('"') % 2 == 0:
        texts.append(comment.group(1))
    return texts


def spoken_prose(line):
    """The texts of a line of Markdown outside code: the cells of a table, or the line."""
    line = re.sub(r"`[^`]*`", "`x`", line).strip()
    if line.startswith("#"):
        return []
    if line.startswith("|"):
        return [cell.strip() for cell in line.strip("|").split("|")]
    return [re.sub(r"^(?:[-*>]|\d+\.)\s+", "", line).replace("**", "")]


def sentences(lines):
    """Pairs of a line's number and a sentence of a document. Tables give the sentences of their cells."""
    text, first, fenced = "", 0, False

    def split(text, number):
        clean = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", text)).replace("**", "")
        for sentence in re.split(r"(?<=[.!?:])\)?\s+|\s+[|]\s+", clean):
            yield number, sentence

    for number, line in enumerate(list(lines) + [""], 1):
        line = line.strip()
        is_fence = line.startswith("```")
        begins = is_fence or fenced or not line or re.match(r"(?:[-*>]|\d+\.)\s|[#|<]", line)
        if begins and text:
            yield from split(text, first)
            text = ""
        fenced = fenced != is_fence
        if is_fence or fenced or not line or line[0] in "#<":
            continue
        if line[0] == "|":
            for cell in line.strip("|").split(" | "):
                yield from split(cell, number)
            continue
        if not text:
            first = number
        text = f"{text} {line}" if text else line


def places(root, area):
    """Each place that breaks a rule: file, line, rule, text."""
    for path in files(root, area):
        name = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8").splitlines()
        is_prose = path.suffix == ".md"
        fenced = False
        for number, line in enumerate(lines, 1):
            if is_prose and line.lstrip().startswith("```"):
                fenced = not fenced
            is_row = is_prose and line.startswith("|") and not fenced
            if len(line) > COLUMNS and not is_row:
                yield name, number, LONG_LINE, line
            if is_prose and fenced:
                continue
            for text in spoken_prose(line) if is_prose else spoken_code(line, path.suffix):
                for rule, pattern in RULES.items():
                    for _ in pattern.findall(text):
                        yield name, number, rule, text
        if is_prose:
            for number, sentence in sentences(lines):
                if len(sentence.split()) > WORDS:
                    yield name, number, LONG_SENTENCE, sentence


def count(root):
    counts = {}
    for area in AREAS:
        rules = [LONG_LINE] + ([LONG_SENTENCE] if area == "documents" else []) + list(RULES)
        counts[area] = dict.fromkeys(rules, 0)
        for path, _, rule, _ in places(root, area):
            # This file holds the phrases as rules.
            if not path.startswith("scripts/check-english"):
                counts[area][rule] += 1
    return counts


def compare(known, present):
    """Two lists of sentences: the counts that rose, and the counts that fell."""
    rose, fell = [], []
    for area, rules in present.items():
        for rule, number in rules.items():
            limit = known.get(area, {}).get(rule, 0)
            if number > limit:
                rose.append(f"{area}: {rule}: {number} places, {limit} allowed."
                            f" See them: scripts/check-english.py --list '{rule}'")
            if number < limit:
                fell.append(f"{area}: {rule}: {number} places, {limit} allowed")
    return rose, fell


def read(root):
    path = root / DATA
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def check(root, output=sys.stdout):
    rose, fell = compare(read(root) or {}, count(root))
    for line in rose:
        print(line, file=output)
    if fell:
        print(*fell, sep="\n", file=output)
        print("check-english: these counts fell. Keep them low: scripts/check-english.py --update", file=output)
    return 1 if rose else 0


def update(root, output=sys.stdout):
    known, present = read(root), count(root)
    if known is not None:
        rose, _ = compare(known, present)
        if rose:
            print(*rose, sep="\n", file=output)
            print("check-english: nothing is written, because counts rose", file=output)
            return 1
    (root / DATA).write_text(json.dumps(present, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def show(root, words):
    for area in AREAS:
        for path, number, rule, text in places(root, area):
            if words in rule and not path.startswith("scripts/check-english"):
                print(f"{path}:{number}: {rule}: {text.strip()}")
    return 0


# A phrase for each rule, and texts that no rule may find.
PLANTED = {
    'What ...': "What waits is applied.",
    'Of ...': "Of those that changed, two are sent.",
    'Where ...': "Where a row is gone, it is sent.",
    ', where': "The row is sent, where the user may see it.",
    'one that': "The bundle is the one that came first.",
    'somebody, nobody, anybody': "Then somebody decides.",
    'stands': "The value stands.",
    'told, tells': "The hub tells the device.",
    'anew': "The file is written anew.",
    'hears, wants, owes': "The device hears of it.",
    'inverted genitive': "It is a bundle of the hub's.",
    LONG_LINE: "x" * (COLUMNS + 1),
    LONG_SENTENCE: " ".join(["word"] * (WORDS // 2)) + "\n" + " ".join(["word"] * (WORDS // 2 + 1)) + ".",
}
PLAIN = "What is it? The hub sends the rows of the device's user. See `somebody stands`.\n\n```\nstands\n```\n"


def self_test():
    failures = []

    def expect(condition, words):
        if not condition:
            failures.append(words)

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("Sources/Hub", "Tests", "docs", "scripts"):
            (root / name).mkdir(parents=True)
        page, code = root / "docs/PAGE.md", root / "Sources/Hub/Code.swift"
        page.write_text(PLAIN)
        code.write_text("// The hub sends rows.\nlet told = stands where true\n")
        expect(update(root) == 0 and not any(n for rules in count(root).values() for n in rules.values()), "plain text")
        for rule, text in PLANTED.items():
            page.write_text(f"{PLAIN}\n- {text}\n")
            expect(count(root)["documents"][rule] == 1, f"{rule} in a document")
            expect(check(root, io.StringIO()) == 1, f"{rule} fails")
            expect(update(root, io.StringIO()) == 1, f"{rule} is not written by --update")
            if rule != LONG_SENTENCE:
                page.write_text(PLAIN)
                code.write_text(f"let a = 1  // {text}\n")
                expect(count(root)["Sources"][rule] == 1, f"{rule} in a comment")
                code.write_text(f'let a = "{text}"\n')
                expect(count(root)["Sources"][rule] == 1, f"{rule} in a literal")
                code.write_text("let a = 1\n")
        page.write_text(f"{PLAIN}\nThe value stands.\n")
        (root / DATA).unlink()
        expect(update(root) == 0 and check(root) == 0, "counts that are known")
        page.write_text(PLAIN)
        expect(check(root, io.StringIO()) == 0, "a count that fell does not fail")
        expect(update(root) == 0 and read(root)["documents"]["stands"] == 0, "a count that fell is written")
    for failure in failures:
        print(f"self-test: {failure}", file=sys.stderr)
    if not failures:
        print("check-english: every planted phrase is found")
    return 1 if failures else 0


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments == []:
        return check(root)
    if arguments == ["--update"]:
        return update(root)
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) == 2 and arguments[0] == "--list":
        return show(root, arguments[1])
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
