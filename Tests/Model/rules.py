"""The rules of the protocol, each of which a run can leave out."""

TEXTS = {
    "stand": "The device takes an emission only if that emission names the device's present emission.",
    "received": "The hub takes an export only if it knows, by its digest, the emission that the device has.",
    "reach": "An export waits if it begins after exports that the hub lacks.",
    "ack": "The device takes no emission that acknowledges less than an earlier one did.",
    "value": "An export from a forgotten emission or a former epoch is merged by values and stamps.",
    "log": "If the hub knows an export's emission, its log shows what others changed in that former epoch.",
    "await": "A change of a row that a device has still to deliver again waits for the row.",
    "equal": "A value that two writers wrote counts as written by both, so a change that knew only one meets it.",
    "later": "With the policy newest, the later stamp wins, at the hub as on the device.",
    "own-policy": "A column's own policy decides about it, whatever the table's policy is.",
    "tomb": "The hub remembers the delete of a row that it never had.",
    "held": "An insert that meets an equal row is nothing new, but the device is sent that row from now on.",
    "lost": "Devices bring back the emissions that the hub made in the lost time.",
    "rest": "If a bundle has no room for all these emissions, later ones bring the rest.",
    "lost-parent": "A row of the lost time whose parent is not here yet waits for an older emission that has it.",
    "overwritten": "A value that a set-back hub took and that the lost time replaces is kept as a conflict.",
    "past": "A device also brings the emissions that are older than a proof which has come to the hub.",
    "unfinished": "A hub that is set back in the midst of a recovery gets older emissions again.",
    "finish": "Emissions of the lost time are merged after all devices have delivered again.",
    "uncertain": "A counter that came back from the lost time takes no change that it may contain: a person decides.",
    "older": "An insert that is older than the delete of a row that had come back is a conflict.",
    "intent": "A pending delete stays pending if the row leaves the device in another way.",
    "phantom": "A delete that stays pending of a row that is gone leaves no insert in an earlier generation.",
    "again": "A row that is written again after it left, with its delete pending, is sent as a new row.",
    "deleted": "The hub takes a delete only if its row is the row that the device deleted, whatever the log says.",
    "proof": "A device that cannot export, or refuses emissions, brings the signed emission that it has.",
    "epochs": "A new epoch names all epochs before it, those known from devices included.",
    "ancestors": "With an unknown epoch, the hub learns the epochs before it, which the proof names.",
    "sealed": "A former user's work is exported first, in that user's name, and forgotten on the device.",
    "writer": "The hub merges an export with the rights of the user who made it.",
    "former": "A former user's changes count as changes of another writer.",
    "whole": "The hub sends a delta only if no emission that the device may have was made for another user.",
    "parent": "A new row waits until the hub has the row to which it refers.",
    "children": "The hub deletes no row to which others refer; the delete is a conflict.",
    "orphans": "A device's own row whose parent leaves becomes a conflict and leaves, too.",
    "revive": "A deleted row comes back to the device with the first row of others that refers to it.",
    "unseen": "An import does not write over a row that is not as the hub believes it to be.",
    "unseen-image": "If a row has pending changes, its oldest pre-image is compared.",
    "unseen-full": "Before a full emission, rows are compared with the rows that the device's archive shows.",
    "compared": "A device follows another key of the hub only after a person has compared it.",
    "lost-key": "A signature of a lost key does not prove that the hub was set back.",
    "stolen": "The hub merges no rows of an emission that a lost key signed.",
    "misled": "The hub takes work that was made on an emission of a lost key, also in an epoch that it does not know.",
    "copies": "The common work of two copies counts once; if both wrote more, that is a conflict.",
    "further": "A write into an old copy is repeated without the part that the exports have already.",
    "repaired": "A write that an earlier repair took from an old copy is not repeated with the same copy.",
    "unclear": "If nothing shows what a copy and the exports have in common, nothing is repeated: a person decides.",
    "joins": "A device that leaves a lost hub brings the next hub the rows that this one lacks or has otherwise.",
    "unknown-start": "No policy decides about the counter of a row from before its device joined: a person decides.",
    "parting": "A former user's work that a lost hub did not have goes to the next hub in that user's name.",
    "replay": "A new database replays the device's own exports that are not acknowledged.",
    "newest": "A replay takes each generation from the newest export that holds it.",
}


class Rules:
    """The rules that hold in one run."""

    def __init__(self, without=()):
        unknown = set(without) - set(TEXTS)
        if unknown:
            raise ValueError(f"no such rule: {', '.join(sorted(unknown))}")
        self.without = frozenset(without)

    def hold(self, name):
        """Returns whether the rule `name` is kept in this run."""
        assert name in TEXTS, name
        return name not in self.without
