#!/usr/bin/env python3
"""Plants the mistakes of Tests/Planted/mistakes.json in a copy of this package, each behind a switch, builds the
simulator there, and lets it hunt for each of them.

    scripts/plant.py [NAME ...]        all of them, or those that are named
    scripts/plant.py --check           looks whether each mistake has its place in the code, and plants nothing

A mistake with "tests" is looked for by these tests: what it does, no season shows. A mistake with "property" is looked
for by these random or exhaustive tests as well, and both must find it. Without any mistake all of them must pass. The
variables in "environment" choose a part of a long test. "longest" is the time in seconds after which the test counts as
one that does not end. A rare mistake has "first", the season with which the hunt begins.

Prints a table of what was found, after how many seconds and seasons. Ends with 1 where one was not found within the
seasons that SEASONS says (1000). JOBS mistakes are looked for at once (1). The package itself stays as it is: no switch
is in what users run.
"""
import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

root = pathlib.Path(__file__).resolve().parent.parent
copy = root / ".build/planted/tree"
# The time in seconds that tests may take if the mistake has no "longest"; and the exit code of `timeout` after it.
LONGEST = 900
TIMED_OUT = 124
SWITCH = """import Glibc

/// Which mistake is on in this run; nil: none.
private let planted: String? = unsafe getenv("SATCHEL_PLANTED").map { unsafe String(cString: $0) }

public func isPlanted(_ name: String) -> Bool { planted == name }
"""


def texts():
    """Every file of the package that is built or that a test of a mistake reads, by its path."""
    for name in ["Sources", "Tests", "examples", "bundles", "keys"]:
        for path in sorted((root / name).rglob("*")):
            if path.is_file():
                yield str(path.relative_to(root)), path.read_bytes()
    yield "Package.swift", (root / "Package.swift").read_bytes()


def planted(mistakes):
    """Every file of the copy, with all mistakes in it. Ends with an error where a mistake has no place."""
    files = dict(texts())
    files["Sources/Values/Planted.swift"] = SWITCH.encode()
    for mistake in mistakes:
        text = files[mistake["file"]].decode()
        for edit in mistake["edits"]:
            if text.count(edit["right"]) != 1:
                sys.exit(f'{mistake["name"]}: its place in {mistake["file"]} is missing, or there more than once')
            text = text.replace(edit["right"], edit["wrong"])
        if mistake["edits"] and "import SatchelValues" not in text and "/Values/" not in mistake["file"]:
            text = "import SatchelValues\n" + text
        files[mistake["file"]] = text.encode()
    return files


def plant(mistakes):
    """Makes the copy. A file that is as it should be is left alone, so that it is not built again."""
    files = planted(mistakes)
    for path in copy.rglob("*"):
        if path.is_file() and str(path.relative_to(copy)) not in files:
            path.unlink()
    for name, contents in files.items():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != contents:
            path.write_bytes(contents)


def build(*words):
    subprocess.run(["swift", "build", "--package-path", copy, *words], check=True, stdout=sys.stderr)


def hunt(environment, first):
    """Plays seasons from `first` on. Returns what was found, and in words."""
    simulate = copy.parent / "build/release/simulate"
    command = [simulate, "hunt", os.environ.get("SEASONS", "1000"), str(first)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    words = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else f"the simulator died: {run.returncode}"
    return run.returncode == 0, words


def test(name, environment, longest):
    """Runs tests, which must fail within `longest` seconds. Returns what was found, and in words."""
    # The program of the tests itself: `swift test` looks at the whole package first, once a mistake.
    tests = copy.parent / "build/release/satchelPackageTests.xctest"
    run = subprocess.run(
        ["timeout", str(longest), tests, "--testing-library", "swift-testing", "--filter", name],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=copy)
    if run.returncode == TIMED_OUT:
        return True, f"{name} does not end within {longest} s"
    if "Test run with" not in run.stdout:
        return False, f"{name} did not run"
    return run.returncode != 0, f"{name} {'fails' if run.returncode else 'passes'}"


def pass_without_mistakes(chosen):
    """Runs the tests of these mistakes with none of them on. A test that fails then shows nothing."""
    names = sorted({mistake[how] for mistake in chosen for how in ("tests", "property") if how in mistake})
    if not names:
        return
    tests = copy.parent / "build/release/satchelPackageTests.xctest"
    environment = {name: value for name, value in os.environ.items() if name != "SATCHEL_PLANTED"}
    run = subprocess.run(
        [tests, "--testing-library", "swift-testing", "--filter", "|".join(names)],
        env=environment | {"SWIFT_DETERMINISTIC_HASHING": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, cwd=copy)
    if run.returncode:
        failed = [line for line in run.stdout.splitlines() if "recorded an issue" in line]
        sys.exit("\n".join(["Without any mistake, these tests fail:", *failed]))


def look_for(mistake):
    """Returns whether a mistake was found, in words, and after how many seconds."""
    environment = dict(os.environ, SATCHEL_PLANTED=mistake["name"], SWIFT_DETERMINISTIC_HASHING="1")
    environment |= mistake.get("environment", {})
    longest = mistake.get("longest", LONGEST)
    began = time.monotonic()
    if "tests" in mistake:
        found, words = test(mistake["tests"], environment, longest)
    else:
        found, words = hunt(environment, mistake.get("first", 0))
    if found and "property" in mistake:
        found, more = test(mistake["property"], environment, longest)
        words += f", {more}"
    return found, words, time.monotonic() - began


def main():
    every = json.loads((root / "Tests/Planted/mistakes.json").read_text())
    if sys.argv[1:] == ["--check"]:
        planted(every)
        return
    plant(every)
    names = sys.argv[1:] or [mistake["name"] for mistake in every]
    chosen = [mistake for mistake in every if mistake["name"] in names]
    if len(chosen) < len(names):
        sys.exit(f"There are no such mistakes: {set(names) - {mistake['name'] for mistake in chosen}}")
    needs_tests = any("tests" in mistake or "property" in mistake for mistake in chosen)
    what = ["--build-tests"] if needs_tests else ["--product", "simulate"]
    build(*what, "-c", "release", "-Xswiftc", "-enable-testing", "--scratch-path", copy.parent / "build")
    pass_without_mistakes(chosen)
    missed = 0
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        for mistake, (found, words, seconds) in zip(chosen, pool.map(look_for, chosen)):
            missed += not found
            print(f"{mistake['name']:28} {seconds:4.0f} s  {words}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mistakes were found")
    sys.exit(missed > 0)


main()
