"""A device's pending changes of one row, replayed on the row that came from the hub."""

from joining import leaves_open
from policies import policy_of
from steps import COLUMNS, COUNTER, PLAIN, UNKNOWN, Conflict, PreImage


def keep_delete(device, images, step):
    """Leaves a delete pending although the device does not have the row any more.

    The pre-images before it hold the row too. Otherwise an insert of the row would be pending before its delete.
    """
    for generation, image in images.items():
        if generation == step.generation or device.rules.hold("phantom"):
            images[generation] = PreImage(step.was, image.first, image.stamp, is_gone=True)


def wins(device, step, column, stamp):
    """Returns whether a pending change of a column wins against a change with `stamp` that the device had not seen."""
    policy = policy_of(device, column)
    if policy == "newest" and device.rules.hold("later"):
        return step.stamp > stamp
    return policy == "device"


def is_mixed(policy, written, others, is_won):
    """Returns whether no policy may decide between two writers of one row that counts as a whole.

    The winner must have written all that the loser wrote. Otherwise the result would be a row that no one wrote. The
    same holds for both orders of arrival.
    """
    if is_won:
        return not others <= written
    return policy == "newest" and not written <= others


class Rebase:
    """Each change keeps its generation and stamps. A change that loses becomes a conflict."""

    def __init__(self, device, key, incoming, stamps):
        self.device, self.key, self.incoming, self.stamps = device, key, incoming, stamps
        pending = device.steps_of(key)
        self.base, self.row, self.images = pending[0][1].row, incoming, {}
        for generation, image, _, step in pending:
            self.images[generation] = PreImage(self.row, image.first, image.stamp)
            if step:
                getattr(self, step.operation)(step)

    def conflict(self, kind, step, is_open=True):
        self.device.conflicts.append(Conflict(kind, self.device.identity, step, self.row, is_open))

    def changed_by_others(self, column):
        if self.incoming is None:
            return False
        if self.base is None or self.device.grain == "row":
            return self.base != self.incoming
        return self.base[column] != self.incoming[column]

    def insert(self, step):
        if self.row is None:
            self.row = step.new
        elif self.row != step.new:
            is_open = step.first is not None or leaves_open(self.device, step, self.row)
            self.conflict("insert/insert", step, is_open)
        elif self.device.world.parents:
            self.device.world.equal_inserts.add(self.key)

    def delete(self, step):
        if self.row is None:
            if self.device.rules.hold("intent"):
                # Gone, or out of sight: the hub must get the delete all the same.
                self.images[step.generation] = PreImage(step.was, step.first, step.stamp)
                keep_delete(self.device, self.images, step)
        elif self.base is not None and self.incoming is not None and self.incoming != self.base:
            self.conflict("delete/update", step)
        else:
            self.row = None

    def update(self, step):
        if self.row is None:
            return self.conflict("update/delete", step)
        row, is_lost = dict(self.row), False
        agrees = self.device.grain == "row" and self.agrees(step)
        is_mixed = self.device.grain == "row" and not agrees and self.is_mixed(step)
        for column, value in step.new.items():
            if column == COUNTER:
                if step.was[column] == UNKNOWN:
                    is_lost = True
                else:
                    row[column] += value - step.was[column]
            elif agrees or not self.changed_by_others(column) or self.incoming[column] == value:
                row[column] = value
            elif self.wins(step, column) and not is_mixed:
                row[column] = value
            else:
                is_lost = True
        if is_lost:
            self.conflict("update/update", step)
        self.row = row

    def others(self):
        """Returns the columns that others changed, as the values show."""
        if self.base is None or self.incoming is None:
            return set()
        return {c for c in COLUMNS if c != COUNTER and self.base[c] != self.incoming[c]}

    def agrees(self, step):
        """Returns whether the step has all that others wrote, with equal values."""
        return self.base is not None and all(step.new.get(c, UNKNOWN) == self.incoming[c] for c in self.others())

    def is_mixed(self, step):
        """Returns whether the row of the winner is not known as a whole: a person then decides."""
        return is_mixed(self.device.policy, set(step.new) - {COUNTER}, self.others(), self.wins(step, PLAIN[0]))

    def wins(self, step, column):
        columns = self.others() or {column} if self.device.grain == "row" else {column}
        return wins(self.device, step, column, max(self.stamps.get(c, 0) for c in columns))

    @staticmethod
    def replay(device, step, stamps):
        """Makes a step of an earlier export pending again, in a database that was created again."""
        key, row = step.key, device.rows.get(step.key)
        image = PreImage(row, step.first, step.stamp)
        conflict = None
        if step.operation == "insert":
            if row is not None and row != step.new:
                conflict = "insert/insert"
            elif row is not None and device.world.parents:
                device.world.equal_inserts.add(key)
            row = row or step.new
        elif step.operation == "delete":
            if row is None and device.rules.hold("intent"):
                keep_delete(device, device.images.setdefault(key, {}), step)
                image = PreImage(step.was, step.first, step.stamp, is_gone=True)
            elif row == step.was:
                row = None
            elif row is not None:
                conflict = "delete/update"
        elif row is None:
            conflict = "update/delete"
        else:
            merged = dict(row)
            for column, value in step.new.items():
                if column == COUNTER:
                    merged[column] += value - step.was[column]
                elif row[column] == step.was[column] or wins(device, step, column, stamps.get(column, 0)):
                    merged[column] = value
                elif row[column] != value:
                    conflict = "update/update"
            row = merged
        if conflict:
            device.conflicts.append(Conflict(conflict, device.identity, step, device.rows.get(key)))
        device.images.setdefault(key, {})[step.generation] = image
        device.set_row(key, row)
