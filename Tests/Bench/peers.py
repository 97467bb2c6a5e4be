"""Peers of `make bench` that come as Python modules. Each prints how many seconds its work took; the start of Python is not counted.

    peers.py version apsw|pygeodiff
    peers.py apply DB CHANGESET         SQLite's changeset_apply, through apsw
    peers.py cycle BASE OFFICE TABLET   geodiff: the office's changes come to the tablet (diff, rebase, apply), then the
                                        tablet's to the office (diff, apply); both hold all changes at the end
"""

import os
import sys
import time


def apply(path, changeset):
    import apsw

    start = time.perf_counter()
    database = apsw.Connection(path)
    with open(changeset, "rb") as file:
        apsw.Changeset.apply(file.read(), database, conflict=lambda reason, change: apsw.SQLITE_CHANGESET_REPLACE)
    database.close()
    return time.perf_counter() - start


def cycle(base, office, tablet):
    import pygeodiff

    geodiff = pygeodiff.GeoDiff()
    start = time.perf_counter()
    geodiff.rebase(base, office, tablet, "conflict.json")
    geodiff.create_changeset(office, tablet, "up.diff")
    geodiff.apply_changeset(office, "up.diff")
    seconds = time.perf_counter() - start
    os.remove("up.diff")
    return seconds


def version(module):
    if module == "apsw":
        import apsw

        # A build without the session extension is of no use here.
        return f"{apsw.apsw_version()} (SQLite {apsw.sqlite_lib_version()})" if apsw.Changeset else None
    import pygeodiff

    return pygeodiff.GeoDiff().version() or pygeodiff.__version__


if __name__ == "__main__":
    work = {"version": version, "apply": apply, "cycle": cycle}[sys.argv[1]]
    print(work(*sys.argv[2:]))
