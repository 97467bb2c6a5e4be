"""Copies of one device: what they had in common when the folder was copied is counted once.

Stamps tell. Two steps of one row and generation with the same first stamp began with the same write.
"""

from dataclasses import dataclass, replace

from steps import COLUMNS, COUNTER, Step


@dataclass(frozen=True, slots=True)
class Delivered:
    """A step that came from one of the copies, and the hub's cursor if it was taken."""

    device: object
    step: Step
    cursor: int | None
    is_waiting: bool = False


class Both(Exception):
    """Both copies wrote further after a write that they have in common."""


def apart_from_kin(step, delivered):
    """Returns what of a step no other copy has delivered, or None if that is nothing.

    `delivered` holds the steps of other copies that began with the same write. Raises `Both` if nobody can tell.
    """
    for other in delivered:
        if other.step.stamp == step.stamp:
            return None
        if step.stamp == step.first:
            # The other copy wrote further. If that write was not taken, this write counts for itself.
            return None if other.cursor or other.is_waiting else step
    if any(other.step.stamp != other.step.first for other in delivered):
        raise Both  # of three copies, one may share more with this step than another does
    return difference(delivered[0].step, step)


def difference(begun, step):
    """Returns the step that leads from the end of `begun` to the end of `step`, or None."""
    if (begun.operation, step.operation) == ("insert", "insert"):
        changed = [c for c in COLUMNS if begun.new[c] != step.new[c]]
        was, new = {c: begun.new[c] for c in changed}, {c: step.new[c] for c in changed}
        return replace(step, operation="update", was=was, new=new) if changed else None
    if (begun.operation, step.operation) == ("update", "delete"):
        was = step.was | {c: begun.new[c] for c in begun.new if c != COUNTER}
        if COUNTER in begun.new:
            was[COUNTER] += begun.new[COUNTER] - begun.was[COUNTER]
        return replace(step, was=was)
    if (begun.operation, step.operation) == ("delete", "delete"):
        return None
    if (begun.operation, step.operation) == ("update", "update"):
        return difference_of_updates(begun, step)
    raise Both


def difference_of_updates(begun, step):
    # In a column that is not in the step, the device may have taken over the other copy's value.
    was = {c: begun.new.get(c, step.was[c]) for c in step.new}
    new = dict(step.new)
    if COUNTER in {**begun.new, **step.new}:
        was[COUNTER] = begun.new.get(COUNTER, 0) - begun.was.get(COUNTER, 0)
        new[COUNTER] = step.new.get(COUNTER, 0) - step.was.get(COUNTER, 0)
    changed = [c for c in new if was[c] != new[c]]
    if not changed:
        return None
    return replace(step, was={c: was[c] for c in changed}, new={c: new[c] for c in changed})
