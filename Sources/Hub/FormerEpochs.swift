import SatchelBundle
import SatchelValues
import SatchelWorkspace

/// Bundles from before the hub was restored. They are taken: they may be the only place where something is that the backup does not hold.
extension HubWorkspace {
  /// What must be right of the history to which a device's bundle belongs.
  ///
  /// One of a former history says since which export it holds everything by what that history had acknowledged, and the restored hub may have
  /// less. So they are taken in their order, without a hole between them.
  func check(_ changes: Manifest.Changes, of device: EnrolledDevice, at hub: HubStore.Identity) throws {
    if changes.epoch == hub.epoch { return }
    guard changes.received < hub.firstEmission else {
      throw Refusal("other-epoch", "It belongs to another history of the hub.", hint: "Provision or enrol the device anew.")
    }
    guard changes.reaches(back: device.merged) else {
      throw Refusal(
        "gap",
        "This hub was restored from a backup and has the bundles of \(device.name) up to \(device.merged); between that one and this, others are missing.",
        hint:
          "Import those first: they lie in the device's bundles/sent. When the device has imported a bundle from this hub, it puts them into its outbox by itself."
      )
    }
  }
}
