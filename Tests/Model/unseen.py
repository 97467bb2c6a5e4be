"""Writes that capture did not see: an import finds them before it writes over them.

A line of a delta says what the device should have, for each emission on which the device may stand. With a full
emission the device compares with what it knows from its own archive.
"""

from steps import COLUMNS, COUNTER, Conflict, Step


def find_unseen(device, emission):
    """Notes a conflict for each row of an import that is not as it should be. The import may then write over it."""
    rules = device.rules
    if emission.is_full and not rules.hold("unseen-full"):
        return
    for key in set(device.rows) | set(device.images) if emission.is_full else emission.rows:
        expected = device.known.get(key) if emission.is_full else emission.was[key].get(device.received)
        found = found_row(device, key)
        if found is None or found == expected:
            continue
        different = {c: found[c] for c in COLUMNS if expected is None or found[c] != expected[c]}
        step = Step(key, device.sequence, "update", device.clock, device.clock, new=different)
        device.conflicts.append(Conflict("unseen", device.identity, step, expected))


def found_row(device, key):
    """Returns the row as it was before all that capture saw; None: there is nothing to compare."""
    images = device.images.get(key)
    if not images:
        return device.rows.get(key) if device.rules.hold("unseen") else None
    oldest = images[min(images)]
    return oldest.row if device.rules.hold("unseen-image") and not oldest.is_gone else None


def learn_acknowledged(known, export, after):
    """Adds to the known rows what the hub has just acknowledged of this device's own changes."""
    for step in export.steps:
        if step.generation < after:
            continue
        if step.operation == "delete":
            known.pop(step.key, None)
        elif step.operation == "insert":
            known[step.key] = step.new
        elif step.key in known:
            row = known[step.key] | step.new
            if COUNTER in step.new:
                row[COUNTER] = known[step.key][COUNTER] + step.new[COUNTER] - step.was[COUNTER]
            known[step.key] = row
