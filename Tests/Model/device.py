"""The device: writes, exports, takes emissions, loses its database and gets it back."""

from dataclasses import replace

from joining import collapse, joining_image
from rebase import Rebase
from references import settle_references
from steps import COLUMNS, COUNTER, Export, PreImage, Proof, step_between
from unseen import find_unseen, learn_acknowledged


class Device:
    """One device. `sent` and `archive` are its files; they survive a lost database."""

    def __init__(self, world, rules, identity, policy, grain, user):
        self.world, self.rules, self.identity, self.policy, self.grain = world, rules, identity, policy, grain
        self.user = user
        self.rows, self.images = {}, {}  # images: key -> {generation: PreImage}
        self.clock = self.sequence = self.acknowledged = 0
        self.ahead = 0  # by how much its clock is ahead
        self.former_exports = 0  # the last export that it made in an earlier epoch
        self.received, self.digest, self.epoch = 0, None, None  # the emission that it has
        self.former = frozenset()  # the epochs before its epoch, which its emissions name
        self.key = None  # the hub's key that it follows
        self.compared = None  # the key that a person has compared with the hub's, until an emission with it comes
        self.sent, self.archive = {}, {}  # exports by sequence; emissions that were imported, by digest
        self.known = {}  # the rows as the archive shows them
        self.lost = set()  # digests of emissions that the hub lacks
        self.is_estranged = False  # whether it refused a bundle that does not follow its own
        self.requested = None  # the exports that a hub has which lacks later ones: they are delivered again
        self.conflicts, self.is_lost = [], False
        self.heard, self.has_left = 0, False  # when its last emission was made; whether it left a hub that was lost
        self.left = []  # former users' exports, from a hub that was lost, which the next hub has still to get
        self.parted = 0  # the last of these exports
        self.duties, self.added, self.overwrote = {}, [], []  # what the check holds the protocol to
        self.exported_duties = set()  # values that writes into an old copy replaced unseen

    def copy(self, identity):
        """Returns a copy of the device's folder under an identity of its own. Pending changes are in both."""
        other = Device(self.world, self.rules, identity, self.policy, self.grain, self.user)
        for name, value in self.__dict__.items():
            if name not in ("world", "rules", "identity"):
                setattr(other, name, value.copy() if isinstance(value, (dict, list, set)) else value)
        other.images = {key: images.copy() for key, images in self.images.items()}
        return other

    # Writes of the app

    def write(self, key, row):
        """The app writes a row, or deletes it if `row` is None. Capture keeps the pre-image."""
        self.clock = stamp = self.world.tick(self.clock, self.ahead)
        old, images = self.rows.get(key), self.images.setdefault(key, {})
        image = images.get(self.sequence)
        first = image or PreImage(old, stamp, stamp)
        images[self.sequence] = PreImage(first.row, first.first, stamp, first.is_gone)
        self.note_duties(key, old, row)
        self.set_row(key, row)

    def add(self, key, amount, values=()):
        """The app counts up, and may write other values with the same write."""
        self.write(key, self.rows[key] | dict(values) | {COUNTER: self.rows[key][COUNTER] + amount})
        self.added.append((key, amount, self.sequence, self.clock))

    def write_unseen(self, key, row):
        """A program writes a row with the triggers switched off."""
        old = self.rows[key]
        self.world.overwrote_unseen |= {(key, c, v) for c, v in old.items() if row is None or row[c] != v}
        for column in COLUMNS if row else ():
            if row[column] != old[column]:
                self.duties[key, column] = (row[column], float("inf"))
        self.set_row(key, row)

    def note_duties(self, key, old, row):
        if old:
            self.overwrote += [(key, c, v, self.sequence) for c, v in old.items() if row is None or row[c] != v]
        for column in COLUMNS:
            if row is None:
                self.duties.pop((key, column), None)
                self.world.deleted.add(key)
                self.world.writers[key, None, self.clock] = self.user
            elif column != COUNTER and (old is None or old[column] != row[column]):
                self.duties[key, column] = (row[column], self.sequence)
                self.world.writers[key, column, row[column]] = self.user

    def set_row(self, key, row):
        if row is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = row

    # Exports

    def steps_of(self, key):
        """Returns the pending changes of a row, oldest first: (generation, pre-image, row after, step or None)."""
        images = self.images.get(key, {})
        generations = sorted(g for g in images if g >= self.acknowledged)
        found = []
        for generation, following in zip(generations, [*generations[1:], None]):
            after = self.rows.get(key) if following is None else images[following].row
            image, is_gone = images[generation], following is not None and images[following].is_gone
            # A row that was out of sight, with its delete pending, and that the app wrote again is a new one.
            is_new = image.is_gone and not is_gone and after is not None and self.rules.hold("again")
            start = PreImage(None, image.first, image.stamp) if is_new else image
            found.append((generation, image, after, step_between(key, generation, start, after)))
        return found

    def pending(self):
        """Returns all steps since the last acknowledged export, by generation."""
        steps = [step for key in sorted(self.images) for *_, step in self.steps_of(key) if step]
        return sorted(steps, key=lambda step: step.generation)

    def export(self):
        steps, base = tuple(self.pending()), max(self.acknowledged, self.sealed)
        self.sequence += 1
        number = (self.epoch, self.former, self.former_exports, self.sequence, self.sealed, base)
        content = (steps, tuple(self.conflicts), self.brought(), self.clock, self.key)
        export = Export(self.identity, self.user, *number, self.received, self.digest, *content)
        self.sent[self.sequence] = export
        return export

    def brought(self):
        """Returns the emissions of former epochs that the hub lacks, the newest first, as many as have room."""
        lacking = [emission for emission in reversed(self.archive.values()) if emission.digest in self.lost]
        return tuple(lacking[: self.world.most_brought])

    def note_lost(self, emission):
        """Notes the emissions of earlier epochs that the hub lacks: those after the newest that it made itself."""
        if emission.epoch == self.epoch:
            self.lost -= emission.collected
            return
        ends = emission.known if self.rules.hold("past") else emission.known | emission.collected
        lost = []
        for digest in reversed(self.archive):
            if self.archive[digest].epoch == emission.epoch:
                continue
            if digest in ends:
                break
            if digest not in emission.collected:
                lost.append(digest)
        self.lost |= set(lost if self.rules.hold("rest") else lost[: self.world.most_brought])

    @property
    def newest_emission(self):
        """The emission that it took last. One of a later epoch may have a smaller number than one before it."""
        return self.archive[next(reversed(self.archive))]

    def deliver(self):
        """Returns the bundles that the courier takes."""
        if self.has_left:
            return []
        if self.is_lost:
            return [Proof(self.identity, self.newest_emission)]
        if self.requested is not None:
            missing = self.files(self.requested, self.sequence, self.brought())
            if missing:
                # That hub may never come back, so the newest export goes along for any other hub.
                return [*missing, self.export()]
        proof = [Proof(self.identity, self.newest_emission)] if self.is_estranged and self.archive else []
        return [*proof, *self.files(self.acknowledged, self.sealed, ()), self.export()]

    def files(self, after, last, brought):
        """Returns the exports in a range. Those from before the folder was copied are this device's too."""
        sequences = [s for s in sorted(self.sent) if after < s <= last]
        return [replace(self.sent[s], device=self.identity, brought=brought) for s in sequences]

    @property
    def sealed(self):
        """The last export of a former user. Its changes travel in this file alone, and never in a later export."""
        return max([self.parted, *(s for s, export in self.sent.items() if export.user != self.user)])

    def seal(self):
        """Exports what the former user wrote, in that user's name. The device then forgets it."""
        self.export()
        self.images, self.conflicts = {}, []

    # Imports

    def receive(self, emission):
        """Imports an emission if it continues the history on which this database is."""
        if not self.follows_key(emission):
            return
        if self.is_lost:
            return self.rebuild(emission)
        if self.epoch is not None and not self.follows(emission):
            self.is_estranged = True
            return
        self.requested, self.is_estranged = None, False
        is_new_epoch = emission.epoch != self.epoch
        if self.world.has_unseen and self.epoch is not None:
            find_unseen(self, emission)
        self.change_user(emission.user)
        before = self.acknowledged
        self.acknowledged = emission.acknowledged if is_new_epoch else max(self.acknowledged, emission.acknowledged)
        self.drop_images()
        self.learn(emission, before)
        if self.has_left:
            self.join(emission)
        self.apply(emission)
        settle_references(self)
        self.note_stand(emission)

    def follows_key(self, emission):
        """Returns whether the emission has a key that the device follows, or that a person has compared."""
        return self.key in (None, emission.key) or self.is_compared(emission) or not self.rules.hold("compared")

    def is_compared(self, emission):
        return emission.key == self.compared and emission.is_full

    def change_user(self, user):
        if user != self.user and self.epoch is not None and self.rules.hold("sealed"):
            self.seal()
        self.user = user

    def follows(self, emission):
        acknowledges = emission.acknowledged >= self.acknowledged or not self.rules.hold("ack")
        if emission.epoch != self.epoch:
            # If two copies of a hub both begin an epoch, a device follows one of them.
            is_decided = self.is_compared(emission)  # a person also decides that the device leaves a thief's epoch
            if not (self.epoch in emission.former or is_decided) or not emission.is_full:
                return False
            if not acknowledges:
                self.requested = emission.acknowledged
                self.note_lost(emission)
            return acknowledges
        if emission.number <= self.received:
            return False
        if self.rules.hold("stand"):
            return acknowledges and emission.stands.get(self.received) == self.digest
        return acknowledges and (emission.is_full or (emission.after or 0) <= self.received)

    def learn(self, emission, before):
        """Keeps what is known of the rows in step with the archive."""
        if emission.is_full:
            self.known = {key: row for key, (row, _) in emission.rows.items()}
            return
        # The rows hold none of the changes of a former user.
        if self.acknowledged in self.sent and self.acknowledged > self.sealed:
            learn_acknowledged(self.known, self.sent[self.acknowledged], before)
        for key, (row, _) in emission.rows.items():
            if row is None:
                self.known.pop(key, None)
            else:
                self.known[key] = row

    def drop_images(self):
        """Forgets the pre-images of acknowledged generations."""
        for key in list(self.images):
            kept = {g: image for g, image in self.images[key].items() if g >= self.acknowledged}
            if kept:
                self.images[key] = kept
            else:
                del self.images[key]

    def apply(self, emission):
        """Writes the hub's rows. Pending changes of a row are replayed on it."""
        rows = dict(emission.rows)
        if emission.is_full:
            for key in [*self.rows, *self.images]:
                rows.setdefault(key, (None, {}))
        for key, (row, stamps) in rows.items():
            if key in self.images:
                rebase = Rebase(self, key, row, stamps)
                self.images[key] = rebase.images
                self.set_row(key, rebase.row)
            else:
                self.set_row(key, row)

    def note_stand(self, emission):
        self.note_lost(emission)
        if emission.epoch != self.epoch:
            self.former_exports = self.sequence
        self.received, self.digest, self.epoch = emission.number, emission.digest, emission.epoch
        self.key, self.compared = emission.key, None
        self.former |= frozenset(emission.former)
        self.archive[emission.digest], self.heard = emission, emission.time
        for _, stamps in emission.rows.values():
            self.clock = max(self.clock, *stamps.values()) if stamps else self.clock

    # A hub that was lost

    def leave_hub(self):
        """The hub is lost with all backups: all bundles go, and the rows stay with what is pending."""
        self.left = self.sealed_exports() if self.rules.hold("parting") else []
        # Numbers and generations go on after those of the exports that leave the hub with this device.
        self.sequence = self.parted = max((export.sequence for export in self.left), default=0)
        self.images = {key: {self.sequence: collapse(images)} for key, images in self.images.items()}
        self.duties = {place: (value, self.sequence) for place, (value, _) in self.duties.items()}
        self.acknowledged = self.received = self.former_exports = 0
        self.digest = self.epoch = self.requested = None
        self.former = frozenset()
        self.sent, self.archive, self.known, self.conflicts, self.overwrote = {}, {}, {}, [], []
        self.lost, self.is_estranged = set(), False
        self.has_left = True

    def sealed_exports(self):
        """Returns the former users' exports that the hub is not known to have."""
        return [*self.left, *self.files(self.acknowledged, self.sealed, ())]

    def join(self, emission):
        """Makes pending what the next hub lacks of the rows that this device has."""
        numbers = {export.sequence for export in self.left}
        for export in self.left:
            base = export.base if export.base in numbers else 0
            stand = {"received": 0, "received_digest": None, "former_exports": 0}
            epochs = {"epoch": emission.epoch, "former": frozenset(emission.former)}
            self.sent[export.sequence] = replace(export, base=base, sealed=base, **epochs, **stand)
        images, self.left = {}, []
        for key in sorted({*self.rows, *self.images}) if self.rules.hold("joins") else ():
            image = joining_image(self, key, emission.rows.get(key, (None, {}))[0])
            if image:
                images[key] = {self.sequence: image}
        self.images, self.has_left = images, False

    # A database that was lost

    def lose_database(self):
        """The database is gone with all that no export carries. The files stay."""
        self.is_lost = True
        exported = {step.generation for export in self.sent.values() for step in export.steps}
        self.duties = {k: d for k, d in self.duties.items() if d[1] < self.sequence and d[1] in exported}
        self.added = [entry for entry in self.added if entry[2] < self.sequence]
        self.rows, self.images = {}, {}

    def rebuild(self, emission):
        """Makes a new database from a full emission, and replays the device's own exports on it."""
        if not emission.is_full or not self.continues(self.newest_emission, emission):
            return
        self.is_lost, self.requested, self.user = False, None, emission.user
        newest = self.sent.get(self.sequence)
        self.conflicts = list(newest.conflicts) if newest and self.sequence > self.sealed else []
        self.rows = {key: row for key, (row, _) in emission.rows.items()}
        self.images, self.known, self.acknowledged = {}, dict(self.rows), emission.acknowledged
        if self.rules.hold("replay"):
            for step in self.exported_steps():
                Rebase.replay(self, step, emission.rows.get(step.key, (None, {}))[1])
        settle_references(self)
        self.note_stand(emission)
        former = (sequence for sequence, export in self.sent.items() if export.epoch != emission.epoch)
        self.former_exports = max(former, default=0)

    def continues(self, newest, emission):
        """Returns whether the emission follows the newest one in the archive: the rule "stand" without a database."""
        if emission.epoch != newest.epoch:
            return newest.epoch in emission.former or self.is_compared(emission)
        stands = (emission.digest, *emission.stands.values())
        return newest.digest in stands or not self.rules.hold("stand")

    def exported_steps(self):
        """Returns the exported steps that are not acknowledged, in their order."""
        steps, covered, floor = {}, self.sequence + 1, max(self.acknowledged, self.sealed)
        for sequence in sorted(self.sent, reverse=True):
            export = self.sent[sequence]
            limit = covered if self.rules.hold("newest") else self.sequence + 1
            for step in export.steps:
                if floor <= step.generation < limit:
                    steps[step.generation, step.key] = step
            covered = min(covered, export.base)
        return [steps[place] for place in sorted(steps)]
