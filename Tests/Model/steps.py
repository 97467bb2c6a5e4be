"""Rows, steps and the files that carry them. All of them are values, which are never changed in place."""

from dataclasses import dataclass, field

ZONE = "c"  # with an attribute of the user, it decides who sees the row
PLAIN = ("a", "b", ZONE)
COUNTER = "n"  # both sides' differences count
PARENT = "p"  # the key of the row to which the row refers, or None
COLUMNS = PLAIN + (COUNTER, PARENT)
UNKNOWN = "?"  # a value from which a change started, if it is unknown


@dataclass(frozen=True, slots=True)
class PreImage:
    """A row before its first write in a generation, and the stamps of the first and the last write."""

    row: dict | None
    first: int
    stamp: int
    is_gone: bool = False  # the row left the device while its delete was pending


@dataclass(frozen=True, slots=True)
class Step:
    """One change of one row in one generation."""

    key: str
    generation: int
    operation: str
    first: int
    stamp: int
    new: dict = field(default_factory=dict)  # insert: the row; update: the changed columns
    was: dict = field(default_factory=dict)  # delete: the row; update: the changed columns before


def step_between(key, generation, image, after):
    """Returns the step from a pre-image to the row that follows it, or None if the two are equal."""
    before = image.row
    if before == after:
        return None
    if before is None:
        return Step(key, generation, "insert", image.first, image.stamp, new=after)
    if after is None:
        return Step(key, generation, "delete", image.first, image.stamp, was=before)
    changed = [c for c in COLUMNS if before[c] != after[c]]
    new, was = {c: after[c] for c in changed}, {c: before[c] for c in changed}
    return Step(key, generation, "update", image.first, image.stamp, new, was)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change that was not taken as it was. `met` is the row that it met."""

    kind: str
    device: object
    step: Step
    met: dict | None = None
    is_open: bool = True  # a person decides, or has decided; otherwise a policy has

    @property
    def identity(self):
        written = tuple(sorted(self.step.new.items()))
        return (self.device, self.kind, self.step.key, self.step.generation, self.step.stamp, written)


@dataclass(frozen=True, slots=True)
class Export:
    """A bundle from a device: all steps since the last acknowledged export."""

    device: object
    user: str  # who made the changes
    epoch: int
    former: frozenset  # the epochs before it
    former_exports: int  # the last export that the device made in an earlier epoch
    sequence: int
    sealed: int  # the last export of a former user of the device
    base: int  # the export after which the steps begin
    received: int  # number and digest of the emission that the device has
    received_digest: int
    steps: tuple
    conflicts: tuple = ()  # what the device found when it replayed its changes
    brought: tuple = ()  # emissions of the lost time, for the hub
    made: int = 0  # when it was made, by the device's clock
    received_key: int | None = None  # the key that signed the emission that the device has


@dataclass(frozen=True, slots=True)
class Proof:
    """The emission that a device has, brought back by a device that cannot export."""

    device: object
    emission: "Emission"


@dataclass(frozen=True, slots=True)
class Emission:
    """A bundle from the hub: the rows that one device needs. A row is (row or None, stamp of each column)."""

    to: object
    user: str
    epoch: int
    former: tuple
    number: int
    digest: int
    after: int | None  # number of the emission that the device has proved
    stands: dict  # number -> digest of each emission that the device may have
    acknowledged: int
    is_full: bool
    rows: dict
    was: dict  # key -> {number of an emission that the device may have: the row that it then has}
    time: int = 0  # when it was made
    collected: frozenset = frozenset()  # emissions of earlier epochs that the hub has, by their digests
    known: frozenset = frozenset()  # those of them that the hub knows to have made
    key: int = 1  # that signed it
