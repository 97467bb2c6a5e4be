#!/usr/bin/env python3
"""Plays random histories of the protocol and checks how each one ends.

    histories.py 1000                   1,000 histories, from seed 0
    histories.py 1 77                   one history, seed 77
    histories.py 1000 --without stand   leaves a rule out
    histories.py --each-rule 1000       leaves out each rule in turn; each of them must be missed

Exit code: 0 if all is as it must be, 1 otherwise.
"""

import argparse
import sys

sys.dont_write_bytecode = True

from check import Failure
from history import History
from rules import TEXTS, Rules

MOST_SHOWN = 5
MOST_TIMES = 20  # how many times as many histories are played for a rule that is not missed at once


def failures(rules, seeds):
    """Yields the seed and the words of each history that fails."""
    for seed in seeds:
        try:
            History(seed, rules).run()
        except Failure as failure:
            yield seed, str(failure)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            if not rules.without:
                raise  # an error of the model
            yield seed, f"{type(error).__name__}: {error}"


def run(rules, seeds):
    found = 0
    for seed, words in failures(rules, seeds):
        found += 1
        if found <= MOST_SHOWN:
            print(f"history {seed}: {words}")
    print(f"{len(seeds):,} histories: {f'{found:,} failed' if found else 'all converged, and nothing was lost'}")
    return found == 0


def first_failure(name, seeds):
    """Returns the first seed that fails without a rule, or None. Some rules are missed in one history of thousands."""
    return next((seed for seed, _ in failures(Rules([name]), seeds)), None)


def run_each_rule(number):
    """Prints in how many histories each rule is missed. Returns whether each is, and whether all together hold."""
    is_good = run(Rules(), range(number))
    width = max(map(len, TEXTS))
    print(f"{'rule':{width}}  missed in  first seed  the rule")
    for name, text in TEXTS.items():
        seeds = [seed for seed, _ in failures(Rules([name]), range(number))]
        first = seeds[0] if seeds else first_failure(name, range(number, MOST_TIMES * number))
        is_good &= first is not None
        print(f"{name:{width}}  {len(seeds):>9}  {'NONE' if first is None else first:>10}  {text}", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser(description="Plays random histories of the protocol.")
    parser.add_argument("number", type=int, nargs="?", default=1000, help="number of histories")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="first seed")
    parser.add_argument("--without", action="append", default=[], choices=TEXTS, metavar="RULE", help="leave it out")
    parser.add_argument("--each-rule", type=int, metavar="N", help="leave out each rule in turn, in N histories")
    options = parser.parse_args()
    if options.each_rule:
        return run_each_rule(options.each_rule)
    return run(Rules(options.without), range(options.seed, options.seed + options.number))


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
