"""What hubs and devices share: time, digests, users, and the courier's stick."""


class World:
    """Time, and names that nobody else has. A digest is a number here; a later one is greater."""

    def __init__(self):
        self.digest = self.time = 0
        self.deleted = set()  # keys of rows that anybody ever deleted
        self.went_back = False  # whether a hub was ever set back

    def new_digest(self):
        self.digest += 1
        return self.digest

    def tick(self, seen=0):
        """Returns a stamp later than the time and than the stamp `seen`."""
        self.time += 1
        return max(self.time, seen + 1)


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
