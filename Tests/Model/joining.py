"""A device whose hub was lost with all backups joins the next hub with the rows that it has."""

from steps import COLUMNS, COUNTER, UNKNOWN, PreImage


def collapse(images):
    """Returns one pre-image for all pending changes of a row."""
    oldest, newest = images[min(images)], images[max(images)]
    return PreImage(oldest.row, oldest.first, newest.stamp)


def joining_image(device, key, hub):
    """Returns what a row was before this device's change of it, or None if there is no change.

    `hub` is the row as the next hub has it. What the device did not change has the time of the last emission.
    """
    row, pending = device.rows.get(key), device.images.get(key, {}).get(device.sequence)
    base = pending.row if pending else None
    stamp = pending.stamp if pending else device.heard

    def image(row):
        return PreImage(row, None, stamp)

    if row is None:
        # A row that this hub lacks may come later, from another device.
        return image(base) if base else None
    if row == hub:
        return None
    if hub is None:
        return image(None)
    if base and base != row:
        return image(start(row, base, hub))
    return image(start(row, row, hub) if row[COUNTER] != hub[COUNTER] else None)


def leaves_open(side, step, row):
    """Returns whether a person decides if a row from before its device joined meets a row with other values.

    `side` is the hub or the device that finds it.
    """
    is_counted = row[COUNTER] != step.new[COUNTER] and side.rules.hold("unknown-start")
    return side.policy == "manual" or is_counted


def start(row, base, hub):
    """Returns the row from which a change started. It differs from both rows if their origin is unknown."""

    def value(column):
        own, known, other = row[column], base[column], hub[column]
        if own == other:
            return own
        if column == COUNTER:
            return known if known == other else UNKNOWN
        if known != own:
            return known
        return UNKNOWN if own is None or other is None else None

    return {column: value(column) for column in COLUMNS}
