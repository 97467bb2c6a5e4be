"""The hub: admits exports, writes its rows and its log, makes emissions."""

import pickle
from collections import defaultdict
from dataclasses import dataclass, field

from merge import StepMerger
from recovery import LostTime
from steps import COLUMNS, PARENT, Conflict, Emission, Proof, Step


@dataclass(slots=True)
class Sent:
    """The hub's memory of an emission that a device may have."""

    cursor: int
    keys: frozenset
    digest: int
    user: str


@dataclass(frozen=True, slots=True)
class Known:
    """Which changes came after an emission of a former epoch, in that epoch: those after `since`, up to `until`."""

    since: int
    until: int


@dataclass(slots=True)
class Enrolled:
    """The hub's records of one device."""

    user: str = ""
    taken: list = field(default_factory=list)  # the exports that were merged, in their order
    number: int = 0  # the last number that an emission got
    proved: int | None = None  # the emission that the device has proved
    emissions: dict = field(default_factory=dict)  # number -> Sent
    former: dict = field(default_factory=dict)  # digest of an emission of a former epoch -> Known
    declared: dict = field(default_factory=dict)  # number -> digest of a forgotten emission that it has
    owed: dict = field(default_factory=dict)  # key -> number of the emission that carried it, or None
    common: set = field(default_factory=set)  # keys of rows that it wrote in common with a copy, until it is sent them
    shared: set = field(default_factory=set)  # cursors of changes that a copy delivered and that this device made too


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One change of one row at the hub."""

    cursor: int
    key: str
    origin: object
    columns: frozenset
    is_presence: bool  # the row came or went
    is_echoed: bool  # the device that made the change is sent it back
    sequence: int  # of the export that brought the change
    row: dict | None  # as it is after the change


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a step."""

    device: object
    user: str
    sequence: int = 0
    sealed: int = 0
    epoch: int | None = None  # in which the export was made
    former_exports: int = 0  # the last export that the device made in an earlier epoch


@dataclass(frozen=True, slots=True)
class Held:
    """A step that waits for what it needs, and the cursor of the emission on which its device stood."""

    source: "Source"
    step: Step
    cursor: int | None


class Hub:
    """The authority. All of its state but `world` and `rules` is in its files, which can be copied and put back."""

    def __init__(self, world, rules, policy, grain):
        self.world, self.rules, self.policy, self.grain = world, rules, policy, grain
        self.rows, self.log, self.row_log = {}, [], defaultdict(list)
        self.stamps = {}  # (key, column) -> stamp of its newest change; column None: of the row's coming or going
        self.in_force = {}  # (key, column) -> stamp of the value in the row
        self.tombs = {}  # key -> stamp of the delete of a row that this hub never had
        self.devices = {}
        self.delivered = defaultdict(list)  # (first device, key, generation, first stamp) -> steps of copies
        self.conflicts, self.held = [], []
        self.reported = {}  # conflicts that devices found, each once
        self.epoch, self.former, self.epoch_cursor = world.new_digest(), (), 0
        self.other_epochs = []  # epochs that devices are in and that these files do not know
        self.made = set()  # digests of all emissions of this history, and of those that came back
        self.own = set()  # those that these files show as made here
        self.is_set_back = False
        self.key, self.lost_keys = 1, frozenset()  # keys are numbers, too
        self.proofs = []  # emissions that proved it; they wait for the next epoch
        self.lost_time = LostTime()
        self.recovering = 0  # 2: a recovery was not at its end when the next one began
        self.recovered = {}  # key of a row that came back as a whole -> its stamp then, and the former epochs
        self.held_values = set()  # every value that ever stood in a row of this history
        self.known_values = set()  # values that a writer had seen and wrote over

    # Files

    def copy_files(self):
        """Returns a copy of the hub's files."""
        return pickle.dumps({k: v for k, v in self.__dict__.items() if k not in ("world", "rules")})

    def put_back(self, files):
        """Replaces the hub's files by an earlier copy. Nothing in them says so."""
        self.__dict__.update(pickle.loads(files))

    # Devices

    def knows(self, device):
        """Returns whether the device, or the device of which it is a copy, is enrolled here."""
        return self.world.root(device) in self.devices

    def record(self, device):
        """Returns what this hub knows of a device. The operator names copies that the hub does not know."""
        if device not in self.devices:
            parent, common = self.world.parents[device]
            known = self.record(parent)
            taken = [sequence for sequence in known.taken if sequence <= common]
            # The content of the copy is not known: it gets everything.
            stands = known.declared | {n: sent.digest for n, sent in known.emissions.items()}
            self.devices[device] = Enrolled(known.user, taken, known.number, declared=stands, owed=dict(known.owed))
        return self.devices[device]

    def merged(self, device):
        """Returns the last export of a device that is merged.

        Exports from before the device was copied count for both copies. Those that come later count for their sender:
        the hub owes what it did not take to the sender alone.
        """
        taken = self.record(device).taken
        return taken[-1] if taken else 0

    def is_own(self, entry, device, sealed):
        """Returns whether the device itself made a change at the hub, before or after it was copied."""
        if entry.cursor in self.devices[device].shared if device in self.devices else False:
            return True
        limit = float("inf")
        while entry.origin != device and device in self.world.parents:
            device, common = self.world.parents[device]
            limit = min(limit, common)
        return entry.origin == device and sealed < entry.sequence <= limit

    # Rows

    @property
    def cursor(self):
        return len(self.log)

    def commit(self, key, row, origin, columns, stamp, is_echoed=True, sequence=0):
        """Writes a row, or deletes it if `row` is None, and logs that."""
        old = self.rows.get(key)
        existed = old is not None
        if row is None:
            del self.rows[key]
            self.world.deleted.add(key)
        else:
            self.rows[key] = row
            self.held_values.update((key, c, row[c]) for c in COLUMNS)
        is_presence = row is None or not existed
        for column in [*columns, None] if is_presence else columns:
            self.stamps[key, column] = max(stamp, self.stamps.get((key, column), 0))
        entry = LogEntry(self.cursor + 1, key, origin, frozenset(columns), is_presence, is_echoed, sequence, row)
        for column in columns:
            # A late write of the value that is there already does not make the value older.
            is_equal = row is not None and existed and row[column] == old[column]
            self.in_force[key, column] = max(stamp, self.in_force.get((key, column), 0)) if is_equal else stamp
        self.log.append(entry)
        self.row_log[key].append(entry)

    def write(self, key, row, stamp):
        """A change by the hub's own people, who see the row that they write over."""
        old = self.rows[key]
        columns = [c for c in COLUMNS if row is None or row[c] != old[c]]
        self.known_values.update((key, c, old[c]) for c in columns)
        self.world.following.update({(key, c, old[c]): row[c] for c in columns if row})
        self.commit(key, row, "hub", columns, stamp)

    def insert(self, key, row, stamp):
        """A new row of the hub's own people."""
        self.commit(key, row, "hub", COLUMNS, stamp)

    def is_visible(self, row, user):
        """Returns whether a user sees a row: by its own values, and below a parent that the user sees."""
        if not user.sees(row):
            return False
        return row[PARENT] is None or (row[PARENT] in self.rows and self.is_visible(self.rows[row[PARENT]], user))

    def has_children(self, key):
        return any(row[PARENT] == key for row in self.rows.values())

    def changes_by_others(self, key, cursor, device, sealed=0, until=float("inf")):
        """Returns the columns that others changed after `cursor`, up to `until`, and whether the row came or went.

        The exports of the device up to `sealed` are those of a former user: their changes left the device.
        """
        columns, is_presence = set(), False
        for entry in self.row_log.get(key, ()):
            if cursor < entry.cursor <= until and not self.is_own(entry, device, sealed):
                columns |= entry.columns
                is_presence |= entry.is_presence
        return columns, is_presence

    def add_conflict(self, kind, device, step, met=None, is_owed=True, is_open=True):
        """Keeps a change that was not taken as it was. The device is sent the present row."""
        self.conflicts.append(Conflict(kind, device, step, met, is_open))
        if is_owed:
            self.owe(device, step.key)

    def owe(self, device, key):
        self.record(device).owed[key] = None

    # Steps that wait

    def waits(self, device, key):
        """Returns whether an earlier step of the device on this row waits."""
        return any(held.source.device == device and held.step.key == key for held in self.held)

    def hold_back(self, source, step, cursor):
        self.held.append(Held(source, step, cursor))
        self.owe(source.device, step.key)

    def release(self):
        """Merges the steps that wait no longer. Values that the device lost meanwhile are sent back to it."""
        is_done = False
        while not is_done:
            is_done, waiting, self.held = True, self.held, []
            for held in waiting:
                merger = StepMerger(self, held.source, held.cursor, is_echoed=True)
                if not merger.take_held(held.step):
                    self.held.append(held)
                else:
                    is_done = False

    # Import

    def receive(self, bundle):
        """Imports what a device sent."""
        if self.is_set_back or not self.knows(bundle.device):
            return
        if isinstance(bundle, Proof):
            self.receive_proof(bundle)
        elif self.admits(bundle):
            self.merge(bundle)

    def receive_proof(self, proof):
        """A device shows an emission with this hub's signature. If the hub did not make it, the hub was set back."""
        emission = proof.emission
        if emission.key in self.lost_keys and emission.digest not in self.made and self.rules.hold("lost-key"):
            self.made.add(emission.digest)  # devices need not bring it again
        elif emission.digest in self.made:
            if emission.epoch == self.epoch:
                self.record(proof.device).declared[emission.number] = emission.digest
        elif emission.epoch in self.former:
            self.lost_time.take(emission)
        elif self.rules.hold("proof"):
            self.note_set_back(emission, emission.key)
            self.proofs.append(emission)

    def note_set_back(self, proof, key):
        """Notes an export or an emission that proves that the hub was set back, and learns its epochs."""
        self.is_set_back = True
        self.world.note_proof(self, key)
        self.world.note_unknown_epoch(proof.epoch, (self.epoch, *self.former))
        learned = [*proof.former, proof.epoch] if self.rules.hold("ancestors") else [proof.epoch]
        self.other_epochs += [epoch for epoch in learned if epoch != self.epoch]

    def admits(self, export):
        """Returns whether the export belongs to this history and lacks no export before it."""
        is_known = export.epoch in self.former or self.was_misled(export)
        if export.epoch == self.epoch:
            is_known = export.received == 0 or export.received_digest in self.made or not self.rules.hold("received")
        if is_known:
            return export.base <= self.merged(export.device) or not self.rules.hold("reach")
        is_proof = export.received_key not in self.lost_keys or not self.rules.hold("lost-key")
        if self.rules.hold("received") and is_proof:
            self.note_set_back(export, export.received_key)
        return False

    def was_misled(self, export):
        """Returns whether a thief of a lost key made the emission on which the export was made."""
        return export.received_key in self.lost_keys and self.rules.hold("misled")

    def merge(self, export):
        """Merges the steps that are new, and records the device's emission."""
        device, merged = self.record(export.device), self.merged(export.device)
        is_present = export.epoch == self.epoch
        sent = device.emissions.get(export.received) if is_present else None
        if sent and sent.digest != export.received_digest:
            sent = None
        is_newer = export.sequence > merged
        if is_newer:
            cursor = sent.cursor if sent else None
            if cursor is None and not self.rules.hold("value"):
                cursor = self.epoch_cursor
            is_echoed = sent is None or max(device.emissions) > export.received
            user = export.user if self.rules.hold("writer") else device.user
            sealed = export.sealed if self.rules.hold("former") else 0
            source = Source(export.device, user, export.sequence, sealed, export.epoch, export.former_exports)
            former = device.former.get(export.received_digest) if self.rules.hold("log") else None
            merger = StepMerger(self, source, cursor, is_echoed, None if is_present else former)
            merger.take([step for step in export.steps if step.generation >= merged])
            device.taken.append(export.sequence)
            self.reported.update((conflict.identity, conflict) for conflict in export.conflicts)
        self.lost_time.collect(self, export)
        self.release()
        if sent:
            self.note_proved(device, export.received)
        elif is_present and is_newer and export.received:
            # An older export would only cost a whole emission more.
            # The hub has forgotten what the device holds, so the device gets everything. By now the device may have an
            # emission that was made after the forgotten one.
            device.emissions = {n: sent for n, sent in device.emissions.items() if n > export.received}
            device.proved = None
            device.declared = {export.received: export.received_digest}

    def note_proved(self, device, number):
        device.proved = max(device.proved or 0, number)
        device.emissions = {n: sent for n, sent in device.emissions.items() if n >= device.proved}
        device.owed = {k: n for k, n in device.owed.items() if n is None or n > device.proved}
        device.common &= set(device.owed)
        device.declared = {}

    # Emission

    def emit(self, device_id, is_full=False):
        """Returns the next emission for a device, or None if this hub knows that it was set back."""
        if self.is_set_back or not self.knows(device_id):
            return None
        device = self.record(device_id)
        user = self.world.users[device.user]
        seen = frozenset(k for k, row in self.rows.items() if self.is_visible(row, user))
        is_full = is_full or device.proved not in device.emissions or self.may_stand_on_another_users(device)
        keys = seen if is_full else self.keys_to_send(device_id, device, seen)
        rows = {k: (self.rows[k], self.column_stamps(k)) if k in seen else (None, {}) for k in keys}
        was = {} if is_full or not self.world.has_unseen else {k: self.rows_held(device, k) for k in keys}
        device.number += 1
        digest = self.world.new_digest()
        stands = device.declared | {n: sent.digest for n, sent in device.emissions.items()}
        epoch = (self.epoch, self.former)
        place = (device.number, digest, device.proved, stands)
        came = frozenset(self.made | self.lost_time.emissions.keys())
        content = (self.merged(device_id), is_full, rows, was, self.world.time, came, self.known(), self.key)
        emission = Emission(device_id, device.user, *epoch, *place, *content)
        device.emissions[device.number] = Sent(self.cursor, seen, digest, device.user)
        device.owed = {k: n or device.number for k, n in device.owed.items()}
        self.made.add(digest)
        self.own.add(digest)
        return emission

    def known(self):
        """Returns the emissions before which this hub has everything. A device brings no older ones.

        If a recovery was not at its end when this epoch began, own emissions of the epoch before may lack rows of an
        older lost time.
        """
        return frozenset() if self.recovering == 2 and self.rules.hold("unfinished") else frozenset(self.own)

    def rows_held(self, device, key):
        """Returns the row that the device has, for each emission that it may have."""
        return {n: self.row_at(key, sent.cursor) for n, sent in device.emissions.items() if key in sent.keys}

    def row_at(self, key, cursor):
        row = None
        for entry in self.row_log[key]:
            if entry.cursor <= cursor:
                row = entry.row
        return row

    def may_stand_on_another_users(self, device):
        """Returns whether the device may have an emission for another user: it then has rows of that user."""
        sent = device.emissions.values() if self.rules.hold("whole") else [device.emissions[device.proved]]
        return any(emission.user != device.user for emission in sent)

    def keys_to_send(self, device_id, device, seen):
        """Returns the rows of a delta: right for every emission that the device may have."""
        held = [sent.keys for sent in device.emissions.values()]
        keys = set(device.owed)
        own = set()
        for entry in self.log[device.emissions[device.proved].cursor :]:
            if entry.origin != device_id or entry.is_echoed:
                keys.add(entry.key)
            if self.is_own(entry, device_id, sealed=0):
                own.add(entry.key)
        ever, always = frozenset.union(*held), frozenset.intersection(*held)
        changed = keys & seen
        return changed | (seen - always) | ((ever | own | set(device.owed)) - seen)

    def column_stamps(self, key):
        return {c: self.stamps.get((key, c), 0) for c in COLUMNS}

    # Epochs

    def replace_lost_key(self):
        """The operator makes another key. The hub lacks nothing, so it collects nothing."""
        self.lost_keys |= {self.key}
        self.key += 1
        self.made |= {emission.digest for emission in self.proofs}
        self.proofs, recovering = [], self.recovering
        self.begin_epoch()
        self.recovering = recovering

    def begin_epoch(self):
        """The operator acknowledges that the hub was set back."""
        others = self.other_epochs if self.rules.hold("epochs") else []
        self.former = tuple(dict.fromkeys([*self.former, self.epoch, *others]))
        self.epoch, self.epoch_cursor = self.world.new_digest(), self.cursor
        self.world.before[self.epoch] = self.former
        self.other_epochs, self.is_set_back = [], False
        self.lost_time.begin()
        self.recovering = min(self.recovering + 1, 2)
        for emission in self.proofs:
            self.lost_time.take(emission)
        self.proofs = []
        for device in self.devices.values():
            device.former |= {sent.digest: Known(sent.cursor, self.cursor) for sent in device.emissions.values()}
            device.emissions, device.declared, device.proved = {}, {}, None
