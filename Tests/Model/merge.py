"""How the hub merges one step of a device into its rows."""

from dataclasses import replace

from copies import Both, Delivered, apart_from_kin
from joining import leaves_open
from policies import policy_of
from rebase import is_mixed
from steps import COLUMNS, COUNTER, PARENT, PLAIN, UNKNOWN


class StepMerger:
    """Merges the steps of one export.

    `cursor` is the hub's cursor when it made the emission on which the device stands. If it is None, the hub does not
    know what the device had seen: values and stamps decide instead of the log. `former` says which part of the log
    decides all the same, because the device stood on an emission of a former epoch that the hub knows.
    """

    def __init__(self, hub, source, cursor, is_echoed, former=None):
        self.hub, self.source, self.device = hub, source, source.device
        self.cursor, self.is_echoed, self.former = cursor, is_echoed, former
        self.disputed = set()  # columns of the present step's row that others changed in that part of the log

    def cursor_for(self, key):
        """Returns the cursor from which others' changes of a row count.

        A row that the device has from a write in common with a copy need not be in any emission.
        """
        return None if key in self.hub.record(self.device).common else self.cursor

    def take(self, steps):
        """Merges the steps of an export. A step that needs another one waits until that is in."""
        waiting, count = steps, None
        while count != len(waiting):
            count, left = len(waiting), []
            for step in waiting:
                if any(other.key == step.key for other in left) or not self.take_step(step):
                    left.append(step)
            waiting = left
        for step in waiting:
            part = self.new_part(step)
            if part:
                self.give_up(part)
            self.note_delivered(step, self.hub.cursor, is_waiting=bool(part))

    def give_up(self, step):
        """Keeps a step that nothing in its own export helps."""
        if step.operation == "delete" and not self.hub.waits(self.device, step.key):
            self.conflict("foreign key", step, self.hub.rows.get(step.key))
        else:
            self.hub.hold_back(self.source, step, self.cursor)

    def take_step(self, step):
        """Merges what of a step no copy of the device has delivered. Returns False if it must wait."""
        cursor, left = self.hub.cursor, self.new_part(step)
        if left and (self.hub.waits(self.device, step.key) or not self.attempt(left)):
            return False
        self.note_delivered(step, cursor)
        return True

    def take_held(self, step):
        """Merges a step that waited. Returns False if it must wait further."""
        cursor = self.hub.cursor
        if self.hub.waits(self.device, step.key) or not self.attempt(step):
            return False
        self.note_delivered(step, cursor)
        return True

    def delivered(self, step):
        """Returns what the device and its copies have delivered that began with the same write."""
        return self.hub.delivered[self.hub.world.root(self.device), step.key, step.generation, step.first]

    def note_delivered(self, step, cursor, is_waiting=False):
        """Notes a step for its device's copies. `cursor` is the hub's cursor before the step was merged."""
        delivered = self.delivered(step)
        # A step that waited may be a part of what its device delivered.
        whole = [other for other in delivered if other.device == self.device and other.is_waiting]
        delivered[:] = [other for other in delivered if other not in whole]
        taken = self.hub.cursor if self.hub.cursor > cursor else None
        delivered.append(Delivered(self.device, whole[0].step if whole else step, taken, is_waiting))

    def new_part(self, step):
        """Returns what of a step no copy of the device has delivered; None: nothing."""
        kin = [other for other in self.delivered(step) if other.device != self.device]
        if not kin or not self.hub.rules.hold("copies"):
            return step
        try:
            left = apart_from_kin(step, kin)
        except Both:
            self.conflict("copies", step, self.hub.rows.get(step.key))
            self.hub.world.behind_copies.add(step.key)
            return None
        self.hub.world.common_steps.add((self.device, step.key, step.generation))
        if any(other.is_waiting for other in kin):
            self.hub.world.behind_copies.add(step.key)
        shared = self.hub.record(self.device).shared
        for other in kin:
            # The other copy's write is this one's too.
            if other.step.stamp in (step.first, step.stamp):
                shared.add(other.cursor)
        # The step is not taken as it was sent, and the device may hold a row that its user does not see.
        self.hub.owe(self.device, step.key)
        self.hub.record(self.device).common.add(step.key)
        return left

    def attempt(self, step):
        """Merges a step. Returns False if it must wait."""
        row = self.hub.rows.get(step.key)
        if self.awaits_row(step, row) or self.lacks_parent(step, row) or self.leaves_children(step, row):
            return False
        if row is not None and not self.may_change(row):
            self.conflict("forbidden", step, row)
            self.hub.world.note_refusal(self.hub, row, step)
            return True
        cursor = self.cursor_for(step.key)
        self.disputed = set()
        if cursor is None:
            columns, is_presence = self.differences(step, row)
            if self.former and step.key not in self.hub.record(self.device).common:
                columns, is_presence = self.changes_since_former(step, columns, is_presence)
        else:
            columns, is_presence = self.hub.changes_by_others(step.key, cursor, self.device, self.source.sealed)
        getattr(self, step.operation)(step, row, columns, is_presence)
        return True

    def lacks_parent(self, step, row):
        """Returns whether a new row refers to a row that is not here."""
        if step.operation != "insert" or row is not None or not self.hub.rules.hold("parent"):
            return False
        return step.new[PARENT] is not None and step.new[PARENT] not in self.hub.rows

    def leaves_children(self, step, row):
        """Returns whether rows refer to a row that is to be deleted."""
        if step.operation != "delete" or row is None or not self.hub.rules.hold("children"):
            return False
        return self.hub.has_children(step.key)

    def awaits_row(self, step, row):
        """Returns whether another device will deliver the row again, of which the step is a change.

        If the hub knows the emission of the former epoch, it also knows the row of that emission: the row was deleted.
        """
        if self.cursor_for(step.key) is not None or row is not None or step.operation != "update":
            return False
        if self.former and step.key not in self.hub.record(self.device).common:
            return False
        return self.hub.stamps.get((step.key, None), 0) < self.when(step) and self.hub.rules.hold("await")

    def when(self, step):
        """Returns the stamp of a step. The hub limits it to its own time, because the device's clock may be ahead."""
        return min(step.stamp, self.hub.world.time)

    def differences(self, step, row):
        """Returns what others must have changed: the values from which the device started show it."""
        if row is None:
            return set(), self.hub.stamps.get((step.key, None), 0) > self.when(step)
        return {c for c, value in step.was.items() if row[c] != value}, False

    def changes_since_former(self, step, columns, is_presence):
        """Returns what others changed since the emission of the former epoch, as the log shows.

        What they changed in that epoch counts as ever. What they changed later counts if the values differ.
        """
        since, sealed = self.former.since, self.source.sealed
        self.disputed, _ = self.hub.changes_by_others(step.key, since, self.device, sealed, self.former.until)
        unseen, _ = self.hub.changes_by_others(step.key, since, self.device, sealed)
        if step.operation == "update":
            columns &= unseen
        return columns | self.disputed, is_presence and bool(unseen)

    def may_change(self, row):
        """Returns whether the user sees this row. Nothing is compared with a row that the user does not see."""
        return not self.hub.world.has_rights or self.hub.is_visible(row, self.hub.world.users[self.source.user])

    def commit(self, step, row, columns):
        self.hub.world.note_change(self.hub, self.hub.rows.get(step.key), step)
        self.hub.commit(step.key, row, self.device, columns, self.when(step), self.is_echoed, self.source.sequence)

    def conflict(self, kind, step, met=None, is_owed=True):
        self.hub.add_conflict(kind, self.device, step, met, is_owed)

    def delete(self, step, row, columns, is_presence):
        if row is None:
            self.bury(step)
        elif columns or is_presence or self.is_unseen(step, row):
            self.conflict("delete/update", step, row)
        else:
            self.commit(step, None, COLUMNS)

    def is_unseen(self, step, row):
        """Returns whether the row is not the one that the device deleted.

        The log does not tell: a device may delete a row, then take an emission by which a newer row leaves its sight.
        It then stands on that emission, but never saw the newer row.
        """
        return row != step.was and self.hub.rules.hold("deleted")

    def bury(self, step):
        """Remembers a delete of a row that is not here: the insert may come later, from another device."""
        hub, key = self.hub, step.key
        is_unknown = self.cursor_for(key) is None or (key, None) not in hub.stamps
        is_newest = hub.stamps.get((key, None), 0) < self.when(step)
        if is_unknown and is_newest and hub.rules.hold("tomb"):
            hub.stamps[key, None] = hub.tombs[key] = self.when(step)

    def insert(self, step, row, columns, is_presence):
        if row is not None:
            if row != step.new and step.key in self.hub.recovered and self.cursor is None:
                self.update_from_nothing(step, row)
            elif row != step.new:
                self.insert_beside(step, row)
            elif self.hub.rules.hold("held"):
                self.hub.owe(self.device, step.key)
        elif is_presence or self.disputed or self.was_deleted(step) or self.is_older_than_delete(step):
            self.conflict("update/delete", step)
        else:
            self.commit(step, step.new, COLUMNS)

    def insert_beside(self, step, row):
        """Merges the insert of a row that is there with other values.

        A row from before its device joined is decided by the policy, as an update is. Its counter is not: nothing shows
        which part of the two numbers is the same.
        """
        if step.first is not None:
            return self.conflict("insert/insert", step, row)
        is_open = leaves_open(self.hub, step, row)
        self.hub.add_conflict("insert/insert", self.device, step, row, is_open=is_open)
        newest = max(self.hub.stamps.get((step.key, c), 0) for c in PLAIN)
        is_won = self.hub.policy == "device" or self.hub.policy == "newest" and self.when(step) > newest
        differing = [c for c in PLAIN if row[c] != step.new[c]]
        if row[COUNTER] != step.new[COUNTER] and not is_open:
            differing.append(COUNTER)
        if differing and is_won and self.cursor_for(step.key) is not None:
            self.commit(step, row | {c: step.new[c] for c in differing}, differing)

    def update_from_nothing(self, step, row):
        """Merges the insert of a row that came back from the lost time. Its stamps decide, and its counter counts."""
        new = {c: v for c, v in step.new.items() if row[c] != v and (c != COUNTER or v != 0)}
        was = {c: 0 if c == COUNTER else None for c in new}
        if new:
            self.update(replace(step, operation="update", new=new, was=was), row, set(new), False)
        self.hub.owe(self.device, step.key)

    def was_deleted(self, step):
        """Returns whether a delete is remembered that did not know this row, as far as stamps tell.

        The stamp of a row from before its device joined is that of the device's last emission, and tells nothing. Such
        a row meets every delete: also that of a row that was here when the device joined.
        """
        if step.first is None:
            return (step.key, None) in self.hub.stamps
        return self.hub.tombs.get(step.key, 0) > self.when(step)

    def is_older_than_delete(self, step):
        """Returns whether a row that came back was deleted later, whatever emission the device has now.

        Who has seen a delete writes with a later stamp. A device that the hub did not know for a while may stand on an
        emission from after the delete and deliver a row that it wrote long before.
        """
        if step.key not in self.hub.recovered or not self.hub.rules.hold("older"):
            return False  # two rows may have one key, and another device may have made the deleted row
        return self.hub.stamps.get((step.key, None), 0) > self.when(step)

    def update(self, step, row, columns, is_presence):
        if row is None:
            return self.conflict("update/delete", step)
        merged, taken, met, lost = dict(row), [], [], []
        others = columns - {COUNTER}
        written_twice = self.written_twice(step, row, others)
        by_rows = self.hub.grain == "row" and (self.disputed or self.cursor_for(step.key) is not None)
        if by_rows and not is_presence and all(step.new.get(c, UNKNOWN) == row[c] for c in others):
            columns = set()  # the step has all that others wrote
        is_open = bool(by_rows and columns and self.is_mixed(step, others))
        is_uncertain = COUNTER in step.new and self.may_contain(step, row)
        for column, value in step.new.items():
            if column == COUNTER and is_uncertain:
                met.append(column)
                lost.append(column)
            elif column == COUNTER and step.was[column] != UNKNOWN:
                merged[column] += value - step.was[column]
                taken.append(column)
            elif row[column] == value:
                continue
            elif not self.is_met(step, column, columns):
                merged[column] = value
                taken.append(column)
            elif not is_open and self.wins(step, column, others):
                merged[column] = value
                taken.append(column)
                met.append(column)
            else:
                met.append(column)
                lost.append(column)
        if met:
            kind = "counted" if is_uncertain else "undecided" if is_open else "update/update"
            self.conflict(kind, step, row, is_owed=bool(lost))
        if taken or written_twice:
            self.commit(step, merged, [*taken, *written_twice])

    def written_twice(self, step, row, others):
        """Returns the columns into which others wrote the step's own value, since its device saw the row."""
        if self.cursor_for(step.key) is None or self.hub.grain == "row" or not self.hub.rules.hold("equal"):
            return []
        return [c for c in others if step.new.get(c, UNKNOWN) == row[c]]

    def may_contain(self, step, row):
        """Returns whether the row may contain the step already, because it came back before its device delivered.

        It does not if its device made it in the present epoch. Older steps were perhaps merged in the lost time, with
        stamps that the hub had limited to its own time. They are not in the row if they are later than the row was, and
        started from the value that the row has.
        """
        if step.key not in self.hub.recovered or not self.hub.rules.hold("uncertain"):
            return False
        stamp, epochs = self.hub.recovered[step.key]
        if self.cursor is not None:
            # Numbers of exports show this. The device's clock may be ahead, and it has rebased its older steps.
            return step.first is not None and step.generation < self.source.former_exports
        if self.source.epoch is not None and self.source.epoch not in epochs:
            return False
        return self.when(step) <= stamp or step.was[COUNTER] != row[COUNTER]

    def is_mixed(self, step, others):
        """Returns whether the row of the winner is not known as a whole: a person then decides."""
        written = set(step.new) - {COUNTER}
        return is_mixed(self.hub.policy, written, others, self.wins(step, PARENT, others))

    def is_met(self, step, column, columns):
        """Returns whether others changed the column, or the row, if rows are merged as a whole."""
        if self.hub.grain == "row" and (self.disputed or self.cursor_for(step.key) is not None):
            return bool(columns)
        return column in columns or step.was[column] == UNKNOWN

    def wins(self, step, column, others=()):
        """Returns whether the device's value wins in a column that others have changed too."""
        if column == COUNTER:
            return False  # it is unknown which part of the counter is in both
        is_disputed = bool(self.disputed) if self.hub.grain == "row" else column in self.disputed
        if self.cursor_for(step.key) is None and not is_disputed:
            return self.when(step) > self.hub.stamps.get((step.key, column), 0)
        policy = policy_of(self.hub, column)
        if policy == "newest" and self.hub.rules.hold("later"):
            columns = others or {column} if self.hub.grain == "row" else {column}
            return self.when(step) > max(self.hub.stamps.get((step.key, c), 0) for c in columns)
        return policy == "device"
