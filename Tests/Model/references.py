"""The effects of an import on rows of a device that refer to each other."""

from steps import PARENT, Conflict, PreImage


def settle_references(device):
    """Brings back deleted parents of rows that came, then removes own rows whose parent has left."""
    while device.rules.hold("revive") and (keys := deleted_parents(device)):
        for key in keys:
            bring_back(device, key)
    while device.rules.hold("orphans") and (keys := orphans(device)):
        for key in keys:
            remove(device, key)


def orphans(device):
    """Returns the rows that refer to a row that is not there."""
    return [key for key, row in device.rows.items() if row[PARENT] is not None and row[PARENT] not in device.rows]


def deleted_parents(device):
    """Returns the rows that others refer to and whose delete is pending."""
    missing = {device.rows[key][PARENT] for key in orphans(device)}
    return sorted(key for key in missing if (oldest := oldest_image(device, key)) and oldest.row and not oldest.is_gone)


def oldest_image(device, key):
    images = device.images.get(key)
    return images[min(images)] if images else None


def bring_back(device, key):
    """The hub lets no row go to which others refer: a pending delete of such a row is refused."""
    images, oldest = device.images[key], oldest_image(device, key)
    for *_, step in device.steps_of(key):
        if step:
            device.conflicts.append(Conflict("foreign key", device.identity, step))
    device.images[key] = {g: PreImage(oldest.row, image.first, image.stamp) for g, image in images.items()}
    device.set_row(key, oldest.row)


def remove(device, key):
    """A row that only this device has loses its parent: it leaves, and stays in a conflict."""
    for *_, step in device.steps_of(key):
        if step:
            device.conflicts.append(Conflict("foreign key", device.identity, step))
    if key not in device.images:
        # The parent was deleted unseen: the rows differ, and the digests show it.
        device.world.unseen.append((device, key))
    for generation, image in device.images.get(key, {}).items():
        device.images[key][generation] = PreImage(None, image.first, image.stamp)
    device.set_row(key, None)
