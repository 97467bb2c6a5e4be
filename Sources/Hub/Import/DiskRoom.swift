import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The room that bundles leave on the hub's disk.
///
/// A device may fill bundles with bytes that compress to very little. Without this limit a few small files could fill
/// the disk for all programs of the machine.
extension HubWorkspace {
  /// Content up to this size is always read: the changes of all other devices should still come.
  private static let smallContent: Int64 = 16 << 20

  /// Refuses a bundle for whose content the disk has too little room. The content needs room twice: in the inbox while
  /// the bundle is merged, and in the database or in `files/`.
  /// - Parameter bytes: the size of all entries.
  func checkRoom(for bytes: Int64) throws {
    if bytes <= Self.smallContent { return }
    let free = try platform.files.freeBytes(folder.inbox)
    guard 2 * bytes + BundlePartsLimits.leastFree <= free else {
      throw Refusal(
        .noSpace,
        """
        Its content has \(bytes >> 20) MiB. That needs twice as much room, and 1 GiB must stay free. \(free >> 20) MiB \
        are free where \(folder.inbox) lies.
        """,
        hint:
          """
          Make room there, and import it again. If its device has no reason to send so much: satchel-hub device revoke \
          NAME
          """,
        keeping: .inPlace)
    }
  }
}
