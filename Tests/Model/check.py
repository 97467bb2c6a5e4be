"""Checks the state of all replicas at the end of a history."""

from collections import Counter
from copy import deepcopy

from steps import COUNTER, PARENT, PLAIN, ZONE, Conflict


FIRM = ("manual", "hub")  # with another policy an older write may win


class Failure(Exception):
    """A history ended in a state that the protocol promises never to reach."""


def demand(condition, words):
    if not condition:
        raise Failure(words())


def check_epoch_order(hub, export):
    """An export finds the same disagreements, whether it comes before or after a new epoch begins."""
    if hub.is_set_back or hub.lost_time.emissions:
        return  # a hub that collects the lost time lets changes wait that it would refuse otherwise
    before, after = deepcopy(hub), deepcopy(hub)
    before.receive(export)
    is_refused = export.epoch == hub.epoch and export.received_key in hub.lost_keys
    if before.is_set_back or is_refused:
        return
    after.begin_epoch()
    after.receive(export)
    keys = [keys_in_disagreement(copy) for copy in (before, after)]
    if hub.world.has_late_devices:
        # The insert of a row that came back is a conflict if its device delivers late.
        keys = [found - hub.world.came_back for found in keys]
    demand(keys[0] == keys[1], lambda: f"only before or after a new epoch, {keys[0] ^ keys[1]} are in disagreement")


def check_order(hub, exports):
    """Exports of several devices find the same disagreements in any order."""
    if hub.is_set_back or hub.lost_time.emissions or any(export.epoch != hub.epoch for export in exports):
        return
    if hub.grain == "row":
        return  # the equal part of a change that lost counts for nothing
    if hub.world.parents:
        return  # a copy's delete may come before what the other copy wrote into the row
    # A device may change a row or not, depending on whether another device's change of its zone came first.
    moved = {step.key for export in exports for step in export.steps if ZONE in step.new or ZONE in step.was}
    keys, refused, alike = [], set(), set()
    for order in (exports, exports[::-1]):
        copy = deepcopy(hub)
        for export in order:
            copy.receive(export)
        if copy.is_set_back:
            return
        # A counter counts in a row that was deleted and made again, whoever made it.
        keys.append({key for key in keys_in_disagreement(copy) if key.startswith(("k", "h"))})
        refused |= {conflict.step.key for conflict in copy.conflicts if conflict.kind == "forbidden"}
        alike |= keys_of_equal_values(copy)
    # If two devices delete a row, only the first delete meets the row with all that the other device had written.
    deletes = Counter({(e.device, step.key) for e in exports for step in e.steps if step.operation == "delete"})
    differing = {key for key in keys[0] ^ keys[1] if sum(deletes[e.device, key] for e in exports) < 2}
    differing -= {key for _, key in hub.world.unseen}  # a device may write a row back to what it was
    # The second of two equal values meets nothing, unless a third value was there in between.
    differing -= alike & {key for key, _ in hub.world.written_twice}
    differing -= moved & refused
    # A device brings to a new hub a row that another device deletes: the first of the two decides what is asked.
    differing -= {step.key for export in exports for step in export.steps if step.first is None}
    demand(not differing, lambda: f"only in one order of delivery, {differing} are in disagreement")


def is_beside_counter(conflict):
    """Returns whether a conflict is about other columns of a row than the counter."""
    return conflict.kind in ("update/update", "lost time") and COUNTER not in conflict.step.new


def is_about_counter(conflict):
    """Returns whether a conflict holds a number that the row which it met does not have."""
    met = conflict.met or {}
    return conflict.step.new.get(COUNTER, met.get(COUNTER)) != met.get(COUNTER)


def keys_in_disagreement(hub):
    return {conflict.step.key for conflict in hub.conflicts} | {held.step.key for held in hub.held}


def keys_of_equal_values(hub):
    """Returns the keys of rows that have every value of all conflicts about them, counters aside."""
    disputed = {}
    for conflict in hub.conflicts:
        values = {(column, value) for column, value in conflict.step.new.items() if column != COUNTER}
        disputed.setdefault(conflict.step.key, set()).update(values)
    return {key for key, values in disputed.items() if key in hub.rows and values <= set(hub.rows[key].items())}


class Check:
    def __init__(self, hub, devices, world):
        self.hub, self.devices, self.world = hub, devices, world
        waiting = [Conflict("held", held.source.device, held.step) for held in hub.held]
        self.conflicts = [*waiting, *hub.conflicts, *hub.reported.values()]
        self.disputed = {(c.step.key, column, value) for c in self.conflicts for column, value in c.step.new.items()}
        self.disputed |= {(c.step.key, n, v) for c in self.conflicts if c.met for n, v in c.met.items()}
        self.disputed_keys = {c.step.key for c in self.conflicts}

    def run(self):
        self.references()
        self.convergence()
        self.no_lost_value()
        self.older_values()
        self.later_values()
        self.counters()
        self.counters_of_the_lost_hub()
        self.rights()
        self.forged_values()
        self.needless_conflicts()
        self.needless_finds()
        self.lost_inserts()
        self.rows_with_parents()

    def rows_with_parents(self):
        """No row of a lost time is missing whose parent is there, except a row that was deleted."""
        for conflict in self.hub.conflicts:
            key, parent = conflict.step.key, conflict.step.new.get(PARENT)
            if conflict.kind not in ("lost time", "lost parent") or key in self.hub.rows or parent is None:
                continue
            is_deleted = (key, None) in self.hub.stamps or parent not in self.hub.rows
            demand(is_deleted, lambda: f"{key} did not come back from the lost time, and {parent} is there")

    def references(self):
        """No row at the hub refers to a row that is not there."""
        for key, row in self.hub.rows.items():
            parent = row[PARENT]
            demand(parent is None or parent in self.hub.rows, lambda: f"{key} refers to {parent}, which is not there")

    def convergence(self):
        """Each device holds exactly what its user may see at the hub, and has nothing pending."""
        for device in self.devices:
            user = self.world.users[self.hub.record(device.identity).user]
            due = {key: row for key, row in self.hub.rows.items() if self.hub.is_visible(row, user)}
            if device.rows != due:
                keys = [k for k in {**device.rows, **due} if device.rows.get(k) != due.get(k)]
                shown = [(k, device.rows.get(k), due.get(k)) for k in keys[:3]]
                raise Failure(f"device {device.identity} diverged: {shown}")
            demand(not device.pending(), lambda: f"device {device.identity} has pending steps: {device.pending()[:2]}")

    def no_lost_value(self):
        """Each value is in a row or in a conflict, unless a writer that had seen it wrote over it."""
        kept = self.kept_values()
        kept |= {(key, column, value) for key, row in self.hub.rows.items() for column, value in row.items()}
        # A hub that went back has forgotten what its people wrote over. Their value may have come back alone.
        for (key, column, value), following in reversed(self.world.following.items()):
            if (key, column, following) in kept:
                kept.add((key, column, value))
        for device in self.devices:
            for (key, column), (value, _) in device.duties.items():
                is_kept = (key, column, value) in kept
                demand(is_kept, lambda: f"{key}.{column} = {value} of device {device.identity} is lost")
            for key, column, value in device.exported_duties:
                is_kept = column == COUNTER or (key, column, value) in kept
                demand(is_kept, lambda: f"{key}.{column} = {value}, exported by device {device.identity}, is lost")
            for emission in device.archive.values():
                if emission.digest in self.world.forged:
                    continue
                for key, (row, _) in emission.rows.items():
                    for column in PLAIN if row else ():
                        demand(
                            (key, column, row[column]) in kept,
                            lambda: f"{key}.{column} = {row[column]}, received by device {device.identity}, is lost",
                        )
        for key, column, value in self.hub.held_values:
            demand(
                column == COUNTER or (key, column, value) in kept,
                lambda: f"{key}.{column} = {value} was written over by a writer that had not seen it",
            )

    def kept_values(self):
        """Returns the values that are in a conflict, or that a writer who had seen them wrote over."""
        kept = self.hub.known_values | self.disputed | self.world.overwrote_unseen | self.world.lost_values
        for device in self.devices:
            for export in device.sent.values():
                kept |= {(step.key, c, v) for step in export.steps for c, v in step.was.items()}
            exported = {(step.key, step.generation) for export in device.sent.values() for step in export.steps}
            # A copy may have written over a value that is in no step of its own. If a hub was lost, the row may be one
            # that the next hub never had.
            kept |= {
                (key, c, v)
                for key, c, v, generation in device.overwrote
                if (key, generation) in exported or self.world.lost_hub
            }
        return kept

    def older_values(self):
        """No value is back after a writer that knew it wrote over it, unless a conflict says so."""
        ahead = self.written_ahead()
        for device in self.devices:
            merged = self.hub.merged(device.identity)
            for export in device.sent.values():
                for step in export.steps if export.sequence <= merged else ():
                    if (device.identity, step.key, step.generation) in self.world.common_steps:
                        continue  # a copy may have known and changed the value
                    if step.key in ahead:
                        continue
                    self.check_older(step, self.hub.rows.get(step.key))

    def check_older(self, step, row):
        if row is None or step.key.startswith("e"):
            return  # equal rows may come again
        if step.operation == "delete" and self.hub.policy in FIRM:
            demand(row != step.was or step.key in self.disputed_keys, lambda: f"{step.key} is back after its delete")
        elif step.operation == "update":
            for column, value in step.new.items():
                if self.policy_of(column) not in FIRM:
                    continue
                is_back = column != COUNTER and row[column] == step.was[column]
                is_back &= (step.key, column) not in self.world.written_twice
                demand(
                    not is_back or (step.key, column, value) in self.disputed | self.world.replaced,
                    lambda: f"{step.key}.{column} is {row[column]} again, after {value}",
                )

    def later_values(self):
        """With the policy "newest", no value counts that is older than a value that lost against it."""
        if "newest" not in map(self.policy_of, PLAIN):
            return
        knowing = set(self.values_written_over())
        ahead = self.written_ahead()
        for conflict in self.hub.conflicts:
            key, row = conflict.step.key, self.hub.rows.get(conflict.step.key)
            if row is None or conflict.kind != "update/update" or not key.startswith("k") or key in ahead:
                continue
            for column, value in conflict.step.new.items():
                if self.policy_of(column) != "newest":
                    continue
                # Rows that count as a whole are compared by their newest values.
                compared = PLAIN if self.hub.grain == "row" else [column]
                stamp = max(self.hub.in_force[key, c] for c in compared)
                is_older = stamp < conflict.step.stamp and row[column] != value
                # The conflict has the time of the last write of its step, and a writer may have seen an earlier one.
                is_older &= (key, column, value, row[column]) not in knowing
                demand(column == COUNTER or not is_older, lambda: f"{key}.{column} is older than {value}")

    def policy_of(self, column):
        """Returns the policy that must decide about a column, whatever rules the run leaves out."""
        own = {} if self.hub.grain == "row" else self.world.own_policies
        return own.get(column, self.hub.policy)

    def written_ahead(self):
        """Returns the keys of rows that devices wrote whose clocks are ahead.

        The hub limits each stamp to the time when the step comes, so such steps are in the order in which they came.
        """
        exports = [export for device in self.devices if device.ahead for export in device.sent.values()]
        return {step.key for export in exports for step in export.steps}

    def values_written_over(self):
        """Yields the values of the exported updates, each with the value that its writer had seen before."""
        for export in [export for device in self.devices for export in device.sent.values()]:
            for step in export.steps:
                if step.operation == "update":
                    yield from ((step.key, c, step.was[c], value) for c, value in step.new.items())

    def counters(self):
        """A counter is the sum of all that was added and survives."""
        # If two copies counted up a row that both had made, and a row comes that is equal by chance, it counts once.
        # Under a conflict about other columns, the counter of a row that came back counts.
        came_back = self.world.came_back
        # A write into an old copy that is older than the export counts with the export.
        open_ones = [c for c in self.conflicts if c.kind != "former"]
        disputed = {c.step.key for c in open_ones if c.step.key not in came_back or not is_beside_counter(c)}
        uncounted = self.world.deleted | self.world.equal_inserts | disputed | self.world.uncounted
        for key, row in self.hub.rows.items():
            if not key.startswith("k") or key in uncounted:
                continue
            # Copies have the writes from before they were copied in common.
            added = {
                (self.world.root(device.identity), stamp): amount
                for device in self.devices
                for k, amount, _, stamp in device.added
                if k == key
            }
            total = sum(added.values())
            demand(row[COUNTER] == total, lambda: f"the counter of {key} is {row[COUNTER]} instead of {total}")

    def counters_of_the_lost_hub(self):
        """After a hub was lost, no addition is settled away: it is in the counter, or a person decides."""
        asked = {c.step.key for c in self.conflicts if c.is_open and is_about_counter(c)}
        excepted = self.world.deleted | asked | self.world.equal_counts
        for key, row in self.hub.rows.items():
            if not self.world.lost_hub or not key.startswith("k") or key in excepted:
                continue
            total = sum(amount for device in self.devices for k, amount, *_ in device.added if k == key)
            demand(
                row[COUNTER] == total,
                lambda: f"the next hub's counter of {key} is {row[COUNTER]} instead of {total}, and no person is asked",
            )

    def rights(self):
        """Each change was judged by the rights of the user who made it."""
        demand(not self.world.violations, lambda: self.world.violations[0])

    def forged_values(self):
        """No value of a thief is at the hub: no device writes such a value itself."""
        held = {(key, *item) for key, row in self.hub.rows.items() for item in row.items()}
        forged = sorted(held & self.world.forged_values)
        demand(not forged, lambda: f"{forged[0]} of a thief came to the hub")

    def needless_conflicts(self):
        """No change was kept for a person if no other writer changed its row."""
        for conflict in self.hub.conflicts:
            key = conflict.step.key
            if key in self.world.behind_copies or self.world.lost_hub:
                continue
            if conflict.kind == "update/delete" and not self.world.has_rights:
                demand(key in self.world.deleted, lambda: f"a change of {key} is a conflict, and no writer deleted it")
            if conflict.kind == "counted":
                # Only the hub can bring back a row of its own people, with what devices had added to it by then.
                is_late = self.world.has_late_devices or self.world.parents or key.startswith("h")
                demand(is_late, lambda: f"the counter of {key} is a conflict, and every device delivered in time")
            if conflict.kind == "insert/insert" and not self.world.has_rights:
                is_alone = key.startswith("k") and not (self.world.has_late_devices and key in self.world.came_back)
                demand(not is_alone, lambda: f"{key} is a conflict, and one device alone made it")

    def needless_finds(self):
        """Only rows that a program wrote behind the back of capture are found."""
        unseen = {key for _, key in self.world.unseen}
        for conflict in self.hub.reported.values():
            is_needless = conflict.kind == "unseen" and conflict.step.key not in unseen
            demand(not is_needless, lambda: f"{conflict.step.key} is called unseen: {conflict}")

    def lost_inserts(self):
        """A row that lost on its device against another row is not there beside its conflict."""
        if self.world.went_back or self.world.parents:
            return  # the row that won may come after the row that lost; a copy may find the row that it made itself
        for conflict in self.hub.reported.values():
            if conflict.step.key.startswith("e"):
                continue  # equal rows may come again
            is_lost = conflict.kind == "insert/insert" and self.hub.rows.get(conflict.step.key) == conflict.step.new
            demand(not is_lost, lambda: f"{conflict.step.key} is there, although it is in a conflict")
