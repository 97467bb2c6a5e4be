"""The hub gets back the time that it lost: its own signed emissions, from the devices' archives."""

from steps import COLUMNS, COUNTER, PARENT, Step


class LostTime:
    """Emissions of the lost time, collected in an epoch, and the devices that have delivered in it."""

    def __init__(self):
        self.emissions, self.delivered = {}, set()
        self.common = {}  # digest of an emission -> the hub's cursor up to which its history had all changes

    def begin(self):
        self.delivered = set()

    def take(self, emission):
        """Keeps an emission that came alone, as a proof."""
        self.emissions[emission.digest] = emission

    def collect(self, hub, export):
        if hub.rules.hold("stolen"):
            hub.made.update(e.digest for e in export.brought if e.key in hub.lost_keys)
        if hub.rules.hold("lost"):
            self.emissions.update((e.digest, e) for e in export.brought if e.digest not in hub.made)
        # A device that brings as many as have room may have more.
        if len(export.brought) < hub.world.most_brought:
            self.delivered.add(export.device)
        if not hub.rules.hold("finish"):
            self.merge(hub)

    def merge(self, hub):
        """Merges what was collected, the newest emission first.

        Before all devices have delivered again, rows would come in whole and the devices' own changes of them would
        count twice. A row whose parent is not here yet waits: an older emission may have the parent.
        """
        waiting, self.common = [], self.common_cursors(hub)
        for digest in sorted(self.emissions, reverse=True):
            emission = self.emissions[digest]
            hub.made.add(emission.digest)
            # A row that is gone was deleted or left the user's sight: it proves nothing.
            common = self.common[digest]
            rows = [(key, *line, common) for key, line in emission.rows.items() if line[0]]
            waiting += self.merge_rows(hub, rows, waiting)
        self.emissions, hub.recovering = {}, 0
        left = []
        while len(left) != len(waiting):
            left, waiting = waiting, self.merge_rows(hub, waiting)
        self.keep(hub, waiting)
        hub.release()

    def common_cursors(self, hub):
        """Returns for each emission the cursor up to which its history certainly had the changes of these files.

        An emission names the emissions that its device may have before it.
        """
        known = {sent.digest: sent.cursor for device in hub.devices.values() for sent in device.emissions.values()}
        for device in hub.devices.values():
            known |= {digest: former.since for digest, former in device.former.items()}
        common = {}
        for digest in sorted(self.emissions):
            found = [known.get(d, common.get(d)) for d in self.emissions[digest].stands.values()]
            found = [cursor for cursor in found if cursor is not None]
            if found:
                common[digest] = max(found)
        least = min(common.values(), default=0)
        return {digest: common.get(digest, least) for digest in self.emissions}

    def merge_rows(self, hub, rows, before=()):
        """Returns the rows that wait. The older versions of such a row wait behind it."""
        keys, waiting = {key for key, *_ in before}, []
        for key, row, stamps, common in rows:
            if key in keys or self.must_wait(hub, row):
                keys.add(key)
                waiting.append((key, row, stamps, common))
            else:
                self.merge_row(hub, key, row, stamps, common)
        return waiting

    @staticmethod
    def must_wait(hub, row):
        return row[PARENT] is not None and row[PARENT] not in hub.rows and hub.rules.hold("lost-parent")

    def keep(self, hub, rows):
        """A person decides about the rows whose parents do not come."""
        for key, row, stamps, common in rows:
            if not self.must_wait(hub, row):
                self.merge_row(hub, key, row, stamps, common)
                continue
            newest = max(stamps.values())
            step = Step(key, 0, "insert", newest, newest, new=row)
            hub.add_conflict("lost parent", "hub", step, hub.rows.get(key), is_owed=False)

    def merge_row(self, hub, key, row, stamps, common):
        here, newest = hub.rows.get(key), max(stamps.values())
        step = Step(key, 0, "insert", newest, newest, new=row)
        if here is None:
            if (key, None) in hub.stamps or row[PARENT] is not None and row[PARENT] not in hub.rows:
                return hub.add_conflict("lost time", "hub", step, is_owed=False)
            hub.commit(key, row, "hub", COLUMNS, newest)
            hub.recovered[key] = (newest, frozenset(hub.former))
            hub.world.came_back.add(key)
            for column in COLUMNS:
                hub.stamps[key, column] = stamps[column]
            return
        merged, taken, lost = dict(here), [], {}
        for column in COLUMNS:
            if here[column] == row[column] or column == COUNTER:
                continue
            changed, _ = hub.changes_by_others(key, hub.epoch_cursor, None)
            if stamps[column] > hub.stamps.get((key, column), 0) and column not in changed:
                merged[column] = row[column]
                taken.append(column)
            else:
                lost[column] = row[column]
        if lost:
            kept = Step(key, 0, "update", newest, newest, new=lost)
            hub.add_conflict("lost time", "hub", kept, here, is_owed=False)
        if taken:
            values = {(key, c, here[c]) for c in taken}
            unknown = self.unknown_columns(hub, key, taken, common)
            if unknown and hub.rules.hold("overwritten"):
                replaced = Step(key, 0, "update", newest, newest, new={c: here[c] for c in unknown})
                hub.add_conflict("lost time", "hub", replaced, merged, is_owed=False)
            hub.known_values |= {(key, c, here[c]) for c in taken if c not in unknown}
            if hub.world.had_twin:
                hub.world.replaced |= values
            hub.commit(key, merged, "hub", taken, newest)

    @staticmethod
    def unknown_columns(hub, key, columns, common):
        """Returns the columns whose values the hub may have taken only after it was set back.

        The lost time may not have known such a value, or may have had it in a conflict that is lost.
        """
        newest = {column: entry.cursor for entry in hub.row_log[key] for column in entry.columns}
        return [column for column in columns if newest.get(column, 0) > common]
