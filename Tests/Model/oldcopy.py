"""An old copy of a device's database is put back, and the repair rolls it forward.

The device's bundles survive. They show the rows after the last export and the last import. Writes into the copy are
replayed on these rows, without the part that the exports have already.
"""

from dataclasses import replace

from rebase import Rebase
from references import settle_references
from steps import COLUMNS, COUNTER, Conflict, step_between

STATE = ("rows", "images", "clock", "sequence", "acknowledged", "received", "digest", "epoch", "former", "user")


class OldCopies:
    """The copies that people keep of the devices' databases in one history."""

    def __init__(self, history, random):
        self.history, self.random, self.kept = history, random, {}

    def keep(self):
        """A person copies a device's database. Some copies have pending work, and the device goes on with it."""
        device = self.history.any_device()
        if device.is_lost or device.has_left or device.identity in self.kept:
            return
        if device.rows and self.random.random() < 0.6:
            self.write_both(device, self.random.choice(sorted(device.rows)))
        self.kept[device.identity] = state(device)
        if self.random.random() < 0.3:
            self.import_other_value(device)
        self.go_on(device)

    def write_both(self, device, key):
        """The app writes a counter and another column of a row in one write."""
        device.add(key, self.random.choice([1, 2, 5]), {"a": self.history.new_value(device, key, "a")})

    def import_other_value(self, device):
        """The office writes a row that has pending work, and the device imports that."""
        hub, keys = self.history.hub, sorted(set(device.images) & set(self.history.hub.rows))
        if keys and not hub.is_set_back:
            key = self.random.choice(keys)
            hub.write(key, hub.rows[key] | {"a": next(self.history.values)}, self.history.world.tick())
            self.history.give(device, self.history.emission(device))

    def go_on(self, device):
        """The app writes, now and then into rows that have pending work."""
        for _ in range(self.random.randrange(4)):
            keys = sorted(set(device.images) & set(device.rows))
            if not keys or self.random.random() < 0.5:
                self.history.write_on(device)
            elif self.random.random() < 0.5:
                device.add(self.random.choice(keys), self.random.choice([1, 2, 5]))
            else:
                self.write_both(device, self.random.choice(keys))

    def put_back(self):
        """A person puts an old copy in place of a newer database. All work of the newer database is exported."""
        device = self.history.any_device()
        copy = self.kept.get(device.identity)
        if copy is None or device.is_lost or device.has_left:
            return
        del self.kept[device.identity]
        device.export()
        if copy["epoch"] != device.epoch or copy["user"] != device.user:
            return  # such a copy is kept aside
        newer, duties = state(device), dict(device.duties)
        added, overwrote, conflicts = len(device.added), len(device.overwrote), len(device.conflicts)
        copy_rows = set(copy["rows"])
        device.__dict__.update(copy | {"images": {key: dict(images) for key, images in copy["images"].items()}})
        device.rows = dict(copy["rows"])
        self.go_on(device)
        if self.random.random() < 0.5:
            self.kept[device.identity] = state(device)  # the same copy comes back later
        rows, deleted = dict(newer["rows"]), (copy_rows | {k for k, *_ in device.added[added:]}) - {*device.rows}
        roll_forward(device, newer)
        self.check_deletes(device, deleted & {*rows})
        self.check_counters(device, {k: rows[k] for k in {*rows} - deleted}, conflicts, device.added[added:])
        # The writes into the copy get a new generation.
        newest = device.sequence
        device.added[added:] = [(key, amount, newest, stamp) for key, amount, _, stamp in device.added[added:]]
        device.overwrote[overwrote:] = [(*place, newest) for *place, _ in device.overwrote[overwrote:]]
        for place, duty in duties.items():
            if device.duties.get(place) != duty:
                device.exported_duties.add((*place, duty[0]))
        device.duties |= {p: (v, newest) for p, (v, g) in device.duties.items() if duties.get(p) != (v, g)}

    def check_deletes(self, device, deleted):
        """A row that was deleted in the copy is not back, unless a conflict says so."""
        disputed = {c.step.key for c in device.conflicts}
        for key in deleted & {*device.rows} - disputed:
            if key.startswith("k"):
                self.history.world.violations.append(f"a repair brings back {key}, which was deleted")

    def check_counters(self, device, before, conflicts, added):
        """A repair counts what was added in the copy after it was put back, and nothing else."""
        uncounted = {c.step.key for c in device.conflicts[conflicts:] if c.kind not in ("update/update", "former")}
        uncounted |= self.history.world.equal_inserts
        for key in {*before} & {*device.rows} - uncounted:
            total = before[key][COUNTER] + sum(amount for k, amount, *_ in added if k == key)
            if device.rows[key][COUNTER] != total:
                words = f"a repair counts {device.rows[key][COUNTER]} in {key} instead of {total}"
                self.history.world.violations.append(words)


def state(device):
    """Returns a copy of the device's database."""
    found = {name: getattr(device, name) for name in STATE}
    images = {key: dict(images) for key, images in device.images.items()}
    return found | {"rows": dict(device.rows), "images": images}


def roll_forward(device, newer):
    """Brings the copy to the newer database's state, which the bundles show, and replays what the copy wrote alone."""
    writes = own_writes(device)
    stamps = {key: stamps_since(device, key) for key, *_ in writes}
    device.__dict__.update(newer)
    for key in list(device.images):
        # The exports show no write that was taken back.
        shown = {g: device.images[key][g] for g, *_, step in device.steps_of(key) if step}
        device.images.pop(key)
        if shown:
            device.images[key] = shown
    for key, image, row, origin in writes:
        if origin == "later":
            replay(device, key, image, row, stamps[key])
        else:
            keep(device, key, image, row, origin)
    settle_references(device)


def own_writes(device):
    """Returns the writes into the copy that no export has: (key, pre-image, row, origin)."""
    generation, told, found = device.sequence, {}, []
    exports = [device.sent[sequence] for sequence in sorted(device.sent) if sequence > generation]
    for step in [step for export in exports for step in export.steps if step.generation >= generation]:
        # The first export of a generation has a change as it was made.
        told.setdefault(step.key, {}).setdefault(step.generation, step)
    for key in sorted(device.images):
        image, row = device.images[key].get(generation), device.rows.get(key)
        if not image:
            continue
        steps = common_steps(device.rules, image, generation, told.get(key, {}))
        write = own_part(device.rules, image, row, generation, steps, exports[0].made)
        if write and write[0].row != write[1]:
            found.append((key, *write))
        elif write and image.row is None and row:
            device.world.equal_inserts.add(key)
    return found


def common_steps(rules, image, generation, told):
    """Returns the exported changes of a row that may have writes in common with a write into the copy.

    An earlier repair gave the write of another copy a later generation, but not another first stamp.
    """
    common = [told[g] for g in sorted(told) if image.first is not None and told[g].first == image.first]
    if common and rules.hold("repaired"):
        return common
    return [told[generation]] if generation in told else []


def own_part(rules, image, row, generation, steps, exported):
    """Returns what of a write into the copy must be repeated: (pre-image, row, origin), or None.

    `steps` are the exported changes of the row that may have writes in common with it. `exported`: the time of the
    first later export.
    """
    if not rules.hold("further"):
        return image, row, "later"
    if not steps:
        # The newer database took the write back, or the hub acknowledged it.
        is_earlier = (image.first or image.stamp) <= exported
        return image, row, "unclear" if is_earlier and rules.hold("unclear") else "later"
    end, step = image.row, steps[-1]
    for part in steps:
        end = end_of(part, end)
    if any(part.stamp == image.stamp and part.generation != generation for part in steps):
        return None  # an earlier repair brought this write, which may have lost a part on what it met
    if step.stamp == image.stamp and end == row:
        return None
    if image.first is None or step.first is None:
        start = image if image.row != row else replace(image, row=end)
        return start, row, "later" if image.stamp >= step.stamp else "former"
    if image.first != step.first:
        return image, row, "later"
    is_only, is_exported_only = image.first == image.stamp, step.first == step.stamp
    if is_only:
        return None  # an import may have taken a part of the exported write away
    # A write may have taken the common write back. Then only the exported row shows that there is a change.
    rest = replace(image, row=end)
    if is_exported_only:
        return rest, row, "later"
    if step.generation == generation and image.stamp <= step.stamp:
        return image, row, "former"
    if is_unclear(image.row, row, end) and rules.hold("unclear"):
        return image if image.row != row else rest, row, "unclear"
    return rest, joined(image.row, row, end), "later"


def end_of(step, row):
    """Returns the row that an exported change makes of the copy's row."""
    if step.operation != "update":
        return step.new if step.operation == "insert" else None
    if row is None:
        return None
    end = row | step.new
    if COUNTER in step.new:
        end[COUNTER] = row[COUNTER] + step.new[COUNTER] - step.was[COUNTER]
    return end


def is_unclear(base, row, other):
    """Returns whether two databases that wrote on after a common write differ in a value that both changed."""
    if row is None or other is None:
        return row != other
    different = [c for c in COLUMNS if row[c] != other[c]]
    if base and base[COUNTER] not in (row[COUNTER], other[COUNTER]):
        return True  # both may have added the same number
    return any(base is None or base[c] not in (row[c], other[c]) for c in different)


def joined(base, row, other):
    """Returns the row with what the newer database wrote into other columns."""
    if row is None or other is None:
        return row
    return {c: other[c] if base and row[c] == base[c] else row[c] for c in COLUMNS}


def stamps_since(device, key):
    """Returns the stamps of what came since the copy was made, by column."""
    found = {}
    for emission in device.archive.values():
        if emission.epoch == device.epoch and emission.number > device.received and key in emission.rows:
            found |= emission.rows[key][1]
    for step in [step for export in device.sent.values() for step in export.steps if step.key == key]:
        found |= {c: max(step.stamp, found.get(c, 0)) for c in COLUMNS if c in step.new or c in step.was}
    return found


def replay(device, key, image, row, stamps):
    """Replays a write on the row that the bundles show. A write that loses becomes a conflict."""
    target, before = device.rows.get(key), device.images.get(key, {})
    device.images[key] = {device.sequence: image}
    device.set_row(key, row)
    rebase = Rebase(device, key, target, stamps)
    device.images[key] = before | rebase.images
    device.set_row(key, rebase.row)


def keep(device, key, image, row, origin):
    """Keeps a write that is not repeated as a conflict, if the row is otherwise. If it is unclear, a person decides."""
    step, target = step_between(key, device.sequence, image, row), device.rows.get(key)
    differs = step.new.items() - target.items() if step.new and target else (step.new or target) is not None
    if step.operation == "delete":
        differs = target is not None
    if differs or origin == "unclear" and COUNTER in step.new:
        device.conflicts.append(Conflict(origin, device.identity, step, target))
