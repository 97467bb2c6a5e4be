"""A thief has the hub's secret key, until the operator makes another one and a person compares it at each device."""

from steps import COLUMNS, PARENT, PLAIN, Emission


class Thief:
    """Forges emissions for the devices of one history."""

    def __init__(self, history, random):
        self.history, self.random = history, random
        self.key = None  # the key that the thief has

    def steal(self):
        if self.key is None:
            self.key = self.history.hub.key

    def forge(self):
        """A device gets an emission with the hub's signature that the hub did not make."""
        device = self.history.any_device()
        if self.key is None or device.epoch is None:
            return
        is_full = device.is_lost or self.random.random() < 0.5
        emission = self.emission(device, self.rows(device, is_full), is_full)
        self.history.world.forged.add(emission.digest)
        self.history.give(device, emission)

    def rows(self, device, is_full):
        """Returns the rows that the device has from the hub, with some of the thief's own."""
        world, values = self.history.world, self.history.values
        known, forged = device.known, {}
        parents = {row[PARENT] for row in known.values()}
        for key in self.random.sample(sorted(known), min(2, len(known))):
            if self.random.random() < 0.8 or key in parents:
                forged[key] = known[key] | {self.random.choice("ab"): next(values)}
            else:
                forged[key] = None
        if self.random.random() < 0.5:
            forged[f"t{next(self.history.births)}"] = self.history.new_row()
        for key, row in forged.items():
            old = known.get(key, {})
            world.forged_values |= {(key, c, row[c]) for c in PLAIN if row and old.get(c) != row[c]}
        return {key: row for key, row in (known | forged).items() if row} if is_full else forged

    def emission(self, device, rows, is_full):
        world = self.history.world
        epoch, former = device.epoch, tuple(sorted(device.former))
        if is_full and self.random.random() < 0.5:
            epoch, former = self.new_epoch(), (epoch, *former)
        place = (device.received + self.random.choice([1, 1, 5]), world.new_digest(), device.received)
        lines = {key: (row, dict.fromkeys(COLUMNS, world.time) if row else {}) for key, row in rows.items()}
        was = {} if is_full else {key: {device.received: device.known.get(key)} for key in rows}
        # It may acknowledge what never came to the hub.
        acknowledged = self.random.choice([device.acknowledged, device.sequence])
        content = ({device.received: device.digest}, acknowledged, is_full, lines, was, world.time)
        return Emission(device.identity, device.user, epoch, former, *place, *content, key=self.key)

    def new_epoch(self):
        """Returns an epoch of the thief's own, or the hub's present one, which every bundle names."""
        is_own = self.random.random() < 0.5
        return self.history.world.new_digest() if is_own else self.history.hub.epoch

    def replace_key(self):
        """The operator learns of the thief."""
        hub = self.history.hub
        if self.key is not None and self.key not in hub.lost_keys:
            hub.replace_lost_key()

    def replace_key_again(self):
        """The operator ends the present epoch too, if the thief forged an emission of it for a device."""
        hub, forged = self.history.hub, self.history.world.forged
        if any(device.epoch == hub.epoch and device.digest in forged for device in self.history.devices):
            hub.replace_lost_key()

    def compare_key(self):
        """A person compares the hub's key at a device."""
        self.compare_key_at(self.history.any_device())

    def compare_key_at(self, device):
        if device.key != self.history.hub.key:
            device.compared = self.history.hub.key
