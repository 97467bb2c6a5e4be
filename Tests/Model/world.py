"""Things that hubs and devices share: time, digests, users, and the courier's stick."""


class World:
    """Time, and unique names. A digest is a number here; a later one is greater."""

    def __init__(self):
        self.digest = self.time = 0
        self.deleted = set()  # keys of rows that any writer ever deleted
        self.users = {}  # name -> User
        self.parents = {}  # device -> (the device of which it is a copy, the last export that both have)
        self.common_steps = set()  # (device, key, generation) of steps that a copy had delivered
        self.had_twin = False  # whether two copies of the hub ever worked side by side
        self.replaced = set()  # values that a hub replaced by those of its twin, which are later by their stamps
        self.behind_copies = set()  # keys of rows of which a copy had delivered a part, or that waited
        self.equal_inserts = set()  # keys of inserts that met an equal row, if there are copies
        self.written_twice = set()  # (key, column) into which a device wrote a value that the hub may have had already
        self.has_unseen = False  # whether programs write with the triggers switched off
        self.overwrote_unseen = set()  # values that were written over in this way
        self.following = {}  # value that a hub's people wrote over -> the value that they wrote
        self.lost_values = set()  # values that were nowhere but in a lost database or at a lost hub
        self.unseen = []  # (device, key) of rows that differ because of them
        self.has_rights = False  # whether the hub asks for the rights of users
        self.writers = {}  # (key, column, value) -> user; for a delete: (key, None, stamp)
        self.violations = []  # changes that were taken from a user who had no right to them, and the other way round
        self.went_back = False  # whether a hub was ever set back
        self.before = {}  # epoch -> the epochs before it
        self.lost_hub = False  # whether a hub was lost with all backups
        self.has_late_devices = False  # whether a lost time may be merged before every device has delivered again
        self.most_brought = 1_000  # how many lost emissions one export has room for
        self.came_back = set()  # keys of rows that came back as a whole from a lost time
        self.equal_counts = set()  # keys of rows of which it is unknown which additions a lost hub had, or who has them
        self.uncounted = set()  # keys of rows of which it is unknown how much was counted
        self.own_policies = {}  # column -> its own policy, if it has one
        self.forged = set()  # digests of the emissions of a thief
        self.forged_values = set()  # (key, column, value) that a thief made

    def new_digest(self):
        self.digest += 1
        return self.digest

    def tick(self, seen=0, ahead=0):
        """Returns a stamp later than the time and than the stamp `seen`. The clock may be `ahead` of the time."""
        self.time += 1
        return max(self.time + ahead, seen + 1)

    def root(self, device):
        """Returns the device from which a copy, or a copy of a copy, was made."""
        while device in self.parents:
            device = self.parents[device][0]
        return device

    def writers_of(self, step):
        """Returns the users who wrote the values of a step. Values of equal rows have no writer."""
        if step.key.startswith("e"):
            return set()
        if step.operation == "delete":
            return {self.writers.get((step.key, None, step.stamp))} - {None}
        return {self.writers.get((step.key, c, v)) for c, v in step.new.items()} - {None}

    def note_change(self, hub, row, step):
        """The hub takes a step onto `row`."""
        for name in self.writers_of(step) if self.has_rights and row else ():
            if not hub.is_visible(row, self.users[name]):
                self.violations.append(f"a change of {step.key} was taken, but its user {name} may not see the row")

    def note_refusal(self, hub, row, step):
        """The hub refuses a step onto `row` because a right is missing."""
        names = self.writers_of(step)
        if names and all(hub.is_visible(row, self.users[name]) for name in names):
            self.violations.append(f"a change of {step.key} was refused, but its user may see the row")

    def note_unknown_epoch(self, epoch, known):
        """A hub that knows some epochs does not know this one. Then it came before none of them."""
        for later in known:
            if epoch in self.before.get(later, ()):
                self.violations.append(f"a hub knows the epoch {later}, but not the epoch {epoch} before it")

    def note_proof(self, hub, key):
        """A hub counts as set back because of an emission that this key signed."""
        if key in hub.lost_keys:
            self.violations.append("a thief stopped the hub with a key that it knows to be lost")

    def note_key(self, device, emission, had_compared):
        """A device was given an emission, perhaps after a person compared a key that is newer."""
        if emission.digest in self.forged and had_compared and device.digest == emission.digest:
            self.violations.append(f"device {device.identity} follows a thief, after a person compared the hub's key")

    def note_references(self, device):
        """After an import, no row of a device refers to a row that is not there."""
        for key, row in device.rows.items():
            if row["p"] is not None and row["p"] not in device.rows:
                self.violations.append(f"{key} of device {device.identity} refers to {row['p']}, which is not there")

    def note_hidden_rows(self, device, emission):
        """A device has just got to another user: it has that user's rows and nothing else."""
        kept = [image.row for images in device.images.values() for image in images.values() if image.row]
        for row in [*kept, *device.rows.values()]:
            if not any(row == sent for sent, _ in emission.rows.values()):
                self.violations.append(f"device {device.identity} has a row of its former user: {row}")


class User:
    """A user sees the rows whose column `c` does not leave the remainder `hidden`; with 3, all rows."""

    def __init__(self, hidden):
        self.hidden = hidden

    def sees(self, row):
        return row["c"] % 3 != self.hidden


class Courier:
    """Carries files: loses some, repeats some, and brings them in any order."""

    def __init__(self, random):
        self.random, self.files = random, []

    def take(self, file, receive):
        if file is not None:
            self.files.append((file, receive))

    def carry(self):
        if not self.files:
            return
        place = self.random.randrange(len(self.files))
        file, receive = self.files[place]
        if self.random.random() < 0.7:
            self.files.pop(place)
        if self.random.random() >= 0.25:
            receive(file)
