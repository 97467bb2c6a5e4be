#!/usr/bin/env python3
"""Plants the mistakes of Tests/Planted/mistakes.json in a copy of this package, each behind a switch, builds the simulator there, and
lets it hunt for each of them.

    scripts/plant.py [NAME ...]        all of them, or those that are named

Prints a table of what was found, and after how many seasons. Ends with 1 where one was not found within the seasons that SEASONS
says (1000). The package itself stays as it is: no switch is in what users run.
"""
import json
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
copy = root / ".build/planted/tree"
SWITCH = """import Glibc

/// Which mistake is on in this run; nil: none.
private let planted: String? = unsafe getenv("SATCHEL_PLANTED").map { unsafe String(cString: $0) }

public func isPlanted(_ name: String) -> Bool { planted == name }
"""


def texts():
    """Every file of the package that is built, by its path."""
    for name in ["Sources", "Tests", "examples"]:
        for path in sorted((root / name).rglob("*")):
            if path.is_file():
                yield str(path.relative_to(root)), path.read_bytes()
    yield "Package.swift", (root / "Package.swift").read_bytes()


def plant(mistakes):
    """Makes the copy. A file that is as it should be is left alone, so that it is not built again."""
    files = dict(texts())
    files["Sources/Values/Planted.swift"] = SWITCH.encode()
    for mistake in mistakes:
        text = files[mistake["file"]].decode()
        for edit in mistake["edits"]:
            if text.count(edit["right"]) != 1:
                sys.exit(f'{mistake["name"]}: its place in {mistake["file"]} is not there, or there more than once')
            text = text.replace(edit["right"], edit["wrong"])
        if mistake["edits"] and "import SatchelValues" not in text and "/Values/" not in mistake["file"]:
            text = "import SatchelValues\n" + text
        files[mistake["file"]] = text.encode()
    for path in copy.rglob("*"):
        if path.is_file() and str(path.relative_to(copy)) not in files:
            path.unlink()
    for name, contents in files.items():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != contents:
            path.write_bytes(contents)


def main():
    every = json.loads((root / "Tests/Planted/mistakes.json").read_text())
    plant(every)
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "simulate", "--package-path", copy, "--scratch-path", copy.parent / "build"],
        check=True, stdout=sys.stderr)
    simulate = copy.parent / "build/release/simulate"
    seasons = os.environ.get("SEASONS", "1000")
    names = sys.argv[1:] or [mistake["name"] for mistake in every]
    missed = 0
    for name in names:
        environment = dict(os.environ, SATCHEL_PLANTED=name, SWIFT_DETERMINISTIC_HASHING="1")
        run = subprocess.run([simulate, "hunt", seasons], env=environment, capture_output=True, text=True)
        verdict = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else f"the simulator died: {run.returncode}"
        missed += run.returncode != 0
        print(f"{name:28} {verdict}", flush=True)
    print(f"{len(names) - missed} of {len(names)} mistakes were found")
    sys.exit(missed > 0)


main()
