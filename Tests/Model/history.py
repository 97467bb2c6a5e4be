"""One random history: three devices, a hub, a courier, and things that go wrong."""

import random
from collections import Counter
from functools import partial
from itertools import count

from check import Check, check_epoch_order, check_order
from device import Device
from hub import Enrolled, Hub
from oldcopy import OldCopies
from steps import PLAIN
from thief import Thief
from world import Courier, User, World

LENGTH = 140
MOST_DEVICES = 5


class History:
    def __init__(self, seed, rules):
        self.random = random.Random(seed)
        self.rules, self.world = rules, World()
        self.policy = self.random.choice(["manual", "device", "newest"])
        if self.policy == "manual" and random.Random(f"policy {seed}").random() < 0.3:
            self.policy = "hub"
        self.grain = self.random.choice(["column", "column", "row"])
        self.columns = random.Random(f"columns {seed}")
        if self.columns.random() < 0.3:
            self.world.own_policies = {c: self.columns.choice(["manual", "device", "newest", "hub"]) for c in "ab"}
        self.hub = Hub(self.world, rules, self.policy, self.grain)
        self.world.users = {name: User(hidden) for hidden, name in enumerate(["ana", "ben", "cleo", "dan"])}
        names = list(self.world.users)
        kind = (self.policy, self.grain)
        self.devices = [Device(self.world, rules, number, *kind, names[number]) for number in range(3)]
        for device in self.devices:
            self.hub.devices[device.identity] = Enrolled(device.user)
        self.world.has_rights = self.random.random() < 0.3
        # Some clocks are ahead.
        clocks = random.Random(f"clocks {seed}")
        for device in self.devices:
            # No two devices write with the same stamp.
            ahead = clocks.choice([10, 100, 100_000]) + (device.identity + 1) / 8
            device.ahead = ahead if clocks.random() < 0.1 else 0
        self.courier, self.copies, self.twin = Courier(self.random), [], None
        self.values, self.births = count(100), count()
        self.can_go_back, self.can_lose = self.random.random() < 0.7, self.random.random() < 0.65
        self.has_references = self.random.random() < 0.35
        self.can_lose_hub = random.Random(f"lost hub {seed}").random() < 0.2
        self.counts = random.Random(f"counts {seed}")
        self.gives_before_loss = random.Random(f"given {seed}").random() < 0.5
        # Some operators do not wait for every device after a lost time, and some tablets begin in that time.
        self.is_impatient = random.Random(f"impatient {seed}").random() < 0.15
        self.can_provision = random.Random(f"provision {seed}").random() < 0.15
        self.can_lose_epochs = random.Random(f"epochs {seed}").random() < 0.1
        self.can_lose_answers = random.Random(f"answers {seed}").random() < 0.15
        self.office = random.Random(f"office {seed}")
        self.has_births_at_hub = self.office.random() < 0.3
        self.equals = random.Random(f"equal {seed}")
        self.world.has_late_devices = self.is_impatient or self.can_provision
        is_tight = random.Random(f"room {seed}").random() < 0.15 and not self.world.has_late_devices
        self.world.most_brought = 1 if is_tight else 1_000
        self.old_copies = OldCopies(self, random.Random(f"old copy {seed}"))
        self.has_old_copies = self.old_copies.random.random() < 0.15
        self.thief = Thief(self, random.Random(f"thief {seed}"))
        self.has_thief = self.thief.random.random() < 0.12
        self.actions, self.weights = self.choose_actions()

    def choose_actions(self):
        actions = [(self.write, 42), (self.deliver, 14), (self.emit, 10), (self.courier.carry, 19)]
        actions += [(self.write_at_hub, 5), (self.change_rights, 2.5), (self.begin_epoch, 2), (self.finish_recovery, 1)]
        if self.world.own_policies:
            actions += [(self.write_twice, 4)]
        if self.can_go_back:
            actions += [(self.copy_hub, 1.5), (self.put_hub_back, 1.5)]
        if self.world.has_rights:
            actions += [(self.give_to_another_user, 2)]
        self.world.has_unseen = self.random.random() < 0.3
        if self.world.has_unseen:
            actions += [(self.write_unseen, 3)]
        if self.random.random() < 0.4:
            actions += [(self.copy_device, 1.5)]
        if self.random.random() < 0.25:
            actions += [(self.start_twin, 1)]
        if self.can_lose:
            actions += [(self.lose_database, 1.5)]
        if self.can_lose_hub and not self.world.has_rights:
            # A row that no user of a device sees would be lost with the hub.
            actions = [action for action in actions if action[0] not in (self.copy_device, self.start_twin)]
            actions += [(self.lose_hub, 1)]
            if self.gives_before_loss:
                actions += [(self.give_to_another_user, 2)]
        if (self.can_provision or self.is_impatient) and self.can_go_back and not self.can_lose_hub:
            actions += [(self.lose_time, 1), (self.enrol, 1)]
        if self.has_births_at_hub and self.has_references and self.can_go_back and not self.can_lose_hub:
            actions += [(self.lose_births, 1)]
        if self.can_lose_epochs and self.can_go_back and not self.can_lose_hub:
            actions += [(self.lose_epochs, 1)]
        if self.can_lose_answers and self.can_go_back and not self.can_lose_hub:
            actions += [(self.lose_answer, 1)]
        # An unseen write would be lost with the newer database.
        if self.has_old_copies and not self.world.has_unseen:
            actions += [(self.old_copies.keep, 5), (self.old_copies.put_back, 4)]
        if self.has_thief:
            # Here the key alone is lost. A hub that is set back cannot distinguish a thief from itself.
            others = [self.copy_hub, self.put_hub_back, self.start_twin, self.lose_hub, self.lose_time]
            others += [self.lose_births, self.lose_epochs]
            actions = [action for action in actions if action[0] not in others]
            actions += [(self.thief.steal, 3), (self.thief.forge, 5), (self.thief.replace_key, 1)]
            actions += [(self.thief.compare_key, 3)]
        return zip(*actions)

    def run(self):
        """Plays the history, brings it to rest and checks it. Raises `Failure`."""
        for device in self.devices:
            device.receive(self.emission(device))
        for action in self.random.choices(self.actions, self.weights, k=LENGTH):
            action()
        for device in self.devices:
            if device.sent:
                check_epoch_order(self.hub, device.sent[max(device.sent)])
        if not self.has_references:  # a row may wait for a parent that another export brings or deletes
            check_order(self.hub, [device.sent[max(device.sent)] for device in self.devices if device.sent])
        self.come_to_rest()
        Check(self.hub, self.devices, self.world).run()

    def come_to_rest(self):
        """The operator does what the tools say, and clean rounds are carried."""
        self.retire_twin()
        self.thief.replace_key()
        self.thief.replace_key_again()
        for device in self.devices:
            self.thief.compare_key_at(device)
        is_tight = self.world.most_brought == 1
        for turn in range(14 if self.can_provision or is_tight else 8):
            if turn in ((10,) if is_tight else (5, 10)):
                self.hub.lost_time.merge(self.hub)
                self.compare_and_repair()
            if turn == 6:
                self.delete_what_came_back()
            if turn == 7:
                self.enrol()
                self.compare_and_repair()
            for device in self.devices:
                if device.is_lost:
                    self.give(device, self.emission(device))
                for bundle in device.deliver():
                    self.hub.receive(bundle)
                self.receive_old_export(device)
            if self.hub.is_set_back:
                self.hub.begin_epoch()
            for device in self.devices:
                self.give(device, self.emission(device))

    def delete_what_came_back(self):
        """A device deletes a row of the lost time, before another device that had the row is enrolled again."""
        unknown = [device for device in self.devices if not self.hub.knows(device.identity)]
        device = self.any_device()
        parents = {row["p"] for row in self.hub.rows.values()}
        keys = sorted((self.world.came_back & set(device.rows)) - parents - set(device.images))
        if unknown and device not in unknown and not device.is_lost and keys:
            device.write(self.random.choice(keys), None)

    # Work

    def any_device(self):
        return self.random.choice(self.devices)

    def new_row(self):
        return {c: next(self.values) for c in PLAIN} | {"n": 0, "p": None}

    def write(self):
        self.write_on(self.any_device())

    def write_on(self, device):
        random = self.random
        if device.is_lost:
            return
        kind = random.random()
        if kind < 0.3 or not device.rows:
            return self.insert(device)
        key = random.choice(sorted(device.rows))
        if kind >= 0.85:
            return self.delete(device.rows, key, lambda key: device.write(key, None))
        part = random.random()
        if part < 0.25:
            return device.add(key, random.choice([1, 2, 5]))
        column = random.choice("ab") if part < 0.85 else "c"
        device.write(key, device.rows[key] | {column: self.new_value(device, key, column)})

    def write_twice(self):
        """Two devices write the same columns of one row."""
        devices = [device for device in self.columns.sample(self.devices, 2) if not device.is_lost]
        keys = sorted(set.intersection(*(set(device.rows) for device in devices))) if devices else []
        if keys:
            key, columns = self.columns.choice(keys), self.columns.choice(["a", "b", "ab"])
            for device in devices:
                device.write(key, device.rows[key] | {column: next(self.values) for column in columns})

    def new_value(self, device, key, column):
        """Returns a value that no row has, or the value that others wrote and that the device has not seen yet."""
        value, present = next(self.values), self.hub.rows.get(key, device.rows[key])[column]
        if self.world.has_rights or present == device.rows[key][column] or self.equals.random() < 0.5:
            return value
        self.world.written_twice.add((key, column))
        return present

    def insert(self, device):
        """A new row. A few rows have keys that two devices can give, and some of these are equal."""
        kind = self.random.random()
        if kind < 0.8:
            row = self.new_row()
            if self.has_references and device.rows and self.random.random() < 0.4:
                row["p"] = self.random.choice(sorted(device.rows))
            return device.write(f"k{next(self.births)}", row)
        number = self.random.randrange(4)
        key, row = (f"n{number}", self.new_row()) if kind < 0.95 else (f"e{number}", self.equal_row(number))
        if key not in device.rows:
            device.write(key, row)

    @staticmethod
    def equal_row(number):
        return {"a": 1, "b": 2, "c": number, "n": 0, "p": None}

    def write_at_hub(self):
        if self.has_births_at_hub and self.office.random() < 0.7:
            return self.insert_at_hub()
        if not self.hub.rows:
            return
        key, column = self.random.choice(sorted(self.hub.rows)), self.random.choice(PLAIN)
        is_update = self.random.random() < 0.7
        if is_update:
            return self.hub.write(key, self.hub.rows[key] | {column: next(self.values)}, self.world.tick())
        self.delete(self.hub.rows, key, lambda key: self.hub.write(key, None, self.world.tick()))

    def insert_at_hub(self):
        row = self.new_row()
        if self.has_references and self.hub.rows and self.office.random() < 0.7:
            # People work on what they began last.
            row["p"] = max(self.hub.rows, key=lambda key: (key.startswith("h"), int(key[1:])))
        self.hub.insert(f"h{next(self.births)}", row, self.world.tick())

    def delete(self, rows, key, delete):
        """An app deletes a row, and before it the rows that refer to it."""
        for child in [child for child, row in rows.items() if row["p"] == key]:
            self.delete(rows, child, delete)
        delete(key)

    def change_rights(self):
        user, hidden = self.any_device().user, self.random.randrange(4)
        # A row that left the sight of all devices would be lost with the hub.
        if not self.can_lose_hub or self.world.has_rights:
            self.world.users[user].hidden = hidden

    def give_to_another_user(self):
        """The operator gives a device to another user."""
        name, device = self.random.choice(list(self.world.users)), self.any_device()
        if self.hub.knows(device.identity):
            self.hub.record(device.identity).user = name

    # Files

    def emission(self, device):
        return self.any_hub().emit(device.identity, is_full=device.is_lost)

    def any_hub(self):
        """Returns the hub, or the copy of it that is at work elsewhere."""
        return self.random.choice([self.hub, self.twin]) if self.twin else self.hub

    def give(self, device, emission):
        """A device imports an emission. Then it has no row of a former user, except rows with which it joins a hub."""
        if emission is None:
            return
        user, brings_rows = device.user, device.is_lost or device.has_left
        had_compared = device.key is not None and emission.key < device.key
        device.receive(emission)
        self.world.note_key(device, emission, had_compared)
        self.world.note_references(device)
        if device.user != user and not brings_rows:
            self.world.note_hidden_rows(device, emission)

    def deliver(self):
        hub = self.any_hub()
        for bundle in self.any_device().deliver():
            self.courier.take(bundle, hub.receive)

    def receive_old_export(self, device):
        """A stick with an old file turns up again."""
        if device.sent:
            self.hub.receive(self.random.choice(list(device.sent.values())))

    def emit(self):
        device = self.any_device()
        self.courier.take(self.emission(device), partial(self.give, device))

    # Trouble

    def copy_hub(self):
        self.copies.append((len(self.hub.former), self.hub.copy_files()))

    def put_hub_back(self):
        if self.copies:
            epochs, files = self.random.choice(self.copies)
            self.hub.put_back(files)
            self.world.went_back = True
            # Copies of a later epoch are of no use after this.
            self.copies = [copy for copy in self.copies if copy[0] <= epochs]
            if self.random.random() < 0.5:
                # People go on as if nothing had happened.
                for device in self.devices:
                    for _ in range(self.random.randrange(4)):
                        self.give(device, self.emission(device))

    def lose_time(self):
        """Devices, perhaps with a new one among them, exchange rows with the hub. Then its files are put back."""
        if self.hub.is_set_back or self.twin:
            return
        files = self.hub.copy_files()
        if self.can_provision:
            self.provision()
        for _ in range(3):
            device = self.devices[-1]
            if not device.is_lost:
                self.insert(device)
                device.add(self.random.choice(sorted(device.rows)), self.random.choice([1, 2, 5]))
            self.exchange(self.devices)
        self.hub.put_back(files)
        self.world.went_back = True

    def lose_births(self):
        """The office makes rows that refer to each other, each in an emission of its own. Then the hub is put back."""
        if self.hub.is_set_back or self.twin:
            return
        files = self.hub.copy_files()
        for _ in range(3):
            self.insert_at_hub()
            self.exchange(self.devices)
        self.hub.put_back(files)
        self.world.went_back = True

    def lose_epochs(self):
        """Devices exchange rows with a hub that begins two epochs. Then its files are put back behind both."""
        if self.hub.is_set_back or self.twin:
            return
        files = self.hub.copy_files()
        for _ in range(2):
            self.hub.begin_epoch()
            for device in self.devices:
                if not device.is_lost:
                    self.insert(device)
            self.exchange(self.devices)
            self.exchange(self.devices)
        self.hub.put_back(files)
        self.world.went_back = True

    def lose_answer(self):
        """The office writes into a row while a device's export of it is on its way. Other devices get that value.

        Then the hub is put back, and merges the export before it learns that it was set back.
        """
        device = self.any_device()
        keys = sorted(set(device.rows) & set(self.hub.rows))
        if self.hub.is_set_back or self.twin or device.is_lost or not keys:
            return
        files, key, column = self.hub.copy_files(), self.random.choice(keys), self.random.choice("ab")
        device.write(key, device.rows[key] | {column: next(self.values)})
        bundles = device.deliver()
        self.hub.write(key, self.hub.rows[key] | {column: next(self.values)}, self.world.tick())
        self.exchange([other for other in self.devices if other is not device])
        self.hub.put_back(files)
        self.world.went_back = True
        for bundle in bundles:
            self.hub.receive(bundle)

    def exchange(self, devices):
        for device in devices:
            for bundle in device.deliver():
                self.hub.receive(bundle)
        for device in devices:
            self.give(device, self.emission(device))

    def start_twin(self):
        """A copy of the hub is taken into use beside it. Each of the two may begin new epochs."""
        if not self.twin:
            self.twin = Hub(self.world, self.rules, self.policy, self.grain)
            self.twin.put_back(self.hub.copy_files())
            self.world.went_back = self.world.had_twin = True

    def retire_twin(self):
        """The operator retires one of the two hubs. The devices bring the other one what it lacks."""
        if self.twin:
            self.hub.known_values |= self.twin.known_values
            self.twin = None

    def begin_epoch(self):
        hub = self.any_hub()
        if hub.is_set_back and self.thief.key == hub.key:
            hub.replace_lost_key()  # there are no copies of this hub and of its files
        elif hub.is_set_back:
            hub.begin_epoch()

    def finish_recovery(self):
        if self.is_impatient or all(device.identity in self.hub.lost_time.delivered for device in self.devices):
            self.hub.lost_time.merge(self.hub)

    def write_unseen(self):
        """A program changes or deletes a row that has nothing pending, and capture does not see it."""
        device = self.any_device()
        keys = sorted(set(device.rows) - set(device.images))
        if device.is_lost or not keys:
            return
        key = self.random.choice(keys)
        has_children = any(row["p"] == key for row in device.rows.values())
        is_update = has_children or self.random.random() < 0.8
        row = device.rows[key] | {self.random.choice("ab"): next(self.values)} if is_update else None
        device.write_unseen(key, row)
        self.world.unseen.append((device, key))

    def compare_and_repair(self):
        """The digests of the rows differ. The operator has these rows sent again."""
        for device, key in self.world.unseen:
            if self.hub.knows(device.identity):
                self.hub.owe(device.identity, key)

    def provision(self):
        """A new device begins. A hub that is put back to a copy from before does not know the device."""
        if len(self.devices) == MOST_DEVICES or self.hub.is_set_back:
            return
        identity, user = len(self.devices), self.random.choice(list(self.world.users))
        device = Device(self.world, self.rules, identity, self.policy, self.grain, user)
        self.devices.append(device)
        self.hub.devices[identity] = Enrolled(user)
        self.give(device, self.hub.emit(identity))

    def enrol(self):
        """The operator enrols again the devices that the hub does not know."""
        for device in self.devices:
            if not self.hub.knows(device.identity):
                self.hub.devices[self.world.root(device.identity)] = Enrolled(device.user)

    def copy_device(self):
        """A person copies a device's folder, with all that is pending in it. The copy gets an identity of its own."""
        device = self.any_device()
        if device.is_lost or len(self.devices) == MOST_DEVICES:
            return
        identity = len(self.devices)
        self.world.parents[identity] = (device.identity, device.sequence)
        self.devices.append(device.copy(identity))

    def lose_hub(self):
        """The hub is lost with all backups. Each device joins a new one with the rows that it has."""
        if any(device.is_lost for device in self.devices):
            return
        self.count_before_loss()
        check, lost = Check(self.hub, self.devices, self.world), self.hub
        self.hub = Hub(self.world, self.rules, self.policy, self.grain)
        self.hub.known_values |= check.kept_values()
        for device in self.devices:
            # Its user had seen what was written over; what it found stays in the copy of its database.
            self.hub.known_values |= {(key, c, v) for key, c, v, _ in device.overwrote}
            self.hub.known_values |= {(c.step.key, *item) for c in device.conflicts for item in c.step.new.items()}
        held = {(key, *item) for device in self.devices for key, row in device.rows.items() for item in row.items()}
        delivered = {(key, *item) for key, row in lost.rows.items() for item in row.items()}
        carried = [export for device in self.devices for export in device.sealed_exports()]
        names = {(export.device, export.sequence) for export in carried}
        for export in [export for device in self.devices for export in device.sent.values()]:
            if (export.device, export.sequence) in names:
                continue
            delivered |= {(step.key, *item) for step in export.steps for item in step.new.items()}
        # Values that no device has are lost with the hub.
        self.hub.known_values |= delivered - held
        self.world.went_back = self.world.lost_hub = True
        self.world.uncounted |= {*lost.rows, *(key for device in self.devices for key in device.rows)}
        self.world.equal_counts |= self.keys_of_equal_counts(check, carried)
        self.courier.files, self.copies = [], []
        # An export that goes to the next hub may report a row that was written unseen.
        reported = [conflict.step.key for export in carried for conflict in export.conflicts]
        self.world.unseen = [(device, key) for device, key in self.world.unseen if key in reported]
        for device in self.devices:
            device.leave_hub()
            self.hub.devices[device.identity] = Enrolled(device.user)
        if self.counts.random() < 0.5:
            # All devices have the next hub's first bundle before one of them delivers.
            for device in self.devices:
                self.give(device, self.hub.emit(device.identity))

    def count_before_loss(self):
        """Several devices add to one row, and the hub is lost before it gets that."""
        held = Counter(key for device in self.devices if not device.has_left for key in device.rows)
        shared = sorted(key for key, number in held.items() if number > 1)
        if not shared or self.counts.random() < 0.5:
            return
        key = self.counts.choice(shared)
        holders = [device for device in self.devices if not device.has_left and key in device.rows]
        for device, amount in zip(holders, [1, 2, 5]):
            device.add(key, amount)

    def keys_of_equal_counts(self, check, carried):
        """Returns the keys of rows of which no check knows what their counters must be at the next hub.

        If two devices have one number, and one of them has added to it, the two numbers count once. What a conflict
        holds back counts nowhere. What a device that has lost the row had added may be nowhere else. A former user's
        export may have reached the lost hub.
        """
        keys = {step.key for export in carried for step in export.steps} | check.disputed_keys
        keys |= {conflict.step.key for device in self.devices for conflict in device.conflicts}
        for device in self.devices:
            keys |= {key for key, *_ in device.added if key not in device.rows}
            for key, row in device.rows.items():
                images = device.images.get(key)
                base = images[min(images)].row if images else row
                if base and base["n"] == row["n"]:
                    continue
                others = [other.rows[key]["n"] for other in self.devices if other != device and key in other.rows]
                keys |= {key} & {key for number in others if number == row["n"]}
        return keys

    def lose_database(self):
        device = self.any_device()
        if device.is_lost or device.has_left:
            return
        if self.world.lost_hub:
            # Others' rows may be pending here alone, and go with the database.
            rows = {key: device.rows.get(key) or {} for key in device.images}
            self.world.lost_values |= {(key, *item) for key, row in rows.items() for item in row.items()}
            self.world.lost_values |= {(key, c, v) for key, c, v, _ in device.overwrote}
            self.world.equal_counts |= {*rows, *(key for key, *_ in device.added)}
        kind = self.random.random()
        if kind < 0.3:
            # An export did not arrive, and its user's rights went and came back.
            device.export()
            user = self.world.users[device.user]
            user.hidden, hidden = self.random.randrange(4), user.hidden
            self.give(device, self.emission(device))
            user.hidden = hidden
        if kind < 0.6:
            # Its last export is on a stick.
            for bundle in device.deliver():
                self.courier.take(bundle, self.hub.receive)
        device.lose_database()
        self.old_copies.kept.pop(device.identity, None)
        if kind < 0.3:
            self.give(device, self.emission(device))
