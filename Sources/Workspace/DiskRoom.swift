import SatchelPlatform
import SatchelValues

/// The room that the content of a bundle needs on a disk, and the room that must stay free there.
///
/// A small bundle may unpack to very large content. Without this limit a few small files could fill the disk for all
/// programs of the machine.
public struct DiskRoom: Sendable {
  /// The room at the hub. A device may send bundles with any content.
  public static let atHub = DiskRoom(
    leastFree: BundlePartsLimits.leastFree,
    hint:
      """
      Make room there, and import it again. If its device has no reason to send so much: satchel-hub device revoke NAME
      """)
  /// The room on a device. Less space must stay free than at the hub, because a device trusts its hub and may have a
  /// small disk.
  public static let onDevice = DiskRoom(
    leastFree: 64 << 20,
    hint:
      """
      Delete files there that you do not need, but nothing in the folder of Satchel. Then import this file again.
      """)

  /// Content up to this size is always read, so that small changes still come in on a full disk.
  private static let smallContent: Int64 = 16 << 20

  /// The bytes that must stay free.
  private let leastFree: Int64
  private let hint: String

  /// Throws a `Refusal` if the disk has too little room for the content of a bundle. The bundle's file stays in its
  /// place.
  ///
  /// The content needs room twice: in the inbox while the bundle is applied, and in the database or in `files/`.
  /// - Parameters:
  ///   - bytes: the size of all entries.
  ///   - inbox: the folder in which the bundle is unpacked.
  public func check(_ bytes: Int64, in inbox: String, _ files: any FileSystem) throws {
    if bytes <= Self.smallContent { return }
    let free = try files.freeBytes(inbox)
    guard 2 * bytes + leastFree <= free else {
      throw Refusal(
        .noSpace,
        """
        Its content has \(bytes >> 20) MiB. That needs twice as much room, and \(leastFreeWords) must stay free. \
        \(free >> 20) MiB are free where \(inbox) lies.
        """,
        hint: hint, keeping: .inPlace)
    }
  }

  private var leastFreeWords: String {
    leastFree >= 1 << 30 ? "\(leastFree >> 30) GiB" : "\(leastFree >> 20) MiB"
  }
}
