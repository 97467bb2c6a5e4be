import SatchelValues
import SatchelWorkspace

/// The option that limits the size of a bundle, for a slow line such as a satellite link.
enum BundleSize {
  static let option = OptionSpec(
    "size", kind: .value("SIZE"), help: "a bundle of at most SIZE, such as 200K: rows first, then files that fit")

  /// The least size that is accepted. A smaller bundle would be mostly overhead.
  private static let leastBytes: Int64 = 4 << 10

  /// Reads the size. Throws a `UsageError` if the text is no size, or too small.
  fileprivate static func bytes(_ text: String) throws -> Int64 {
    guard let bytes = ByteSize.bytes(text) else {
      throw UsageError("--size takes a size such as 200K or 2M, and not \(text)")
    }
    guard bytes >= leastBytes else { throw UsageError("--size is at least 4K") }
    return bytes
  }

  /// The failure of a bundle whose rows alone are larger than the size; nil: the bundle fits.
  /// - Parameters:
  ///   - bytes: the size of the bundle's file.
  ///   - cut: the command that cuts the bundle into volumes.
  static func excess(of bytes: Int64, over size: Int64?, cut: String) -> WorkspaceError? {
    guard let size, bytes > size else { return nil }
    let volume = max(size, BundleVolumes.leastBytes) >> 10
    return WorkspaceError(
      .tooLarge,
      "The rows alone make a bundle of \(Words.kibibytes(bytes)). --size allows \(Words.kibibytes(size)).",
      hint: "The bundle is in bundles/outbox. Send it in pieces: \(cut) --volume-size \(volume)K")
  }
}

extension ParsedCommand {
  /// The largest size of a bundle's file, in bytes. nil if the option is absent.
  func bundleSize() throws -> Int64? { try value(BundleSize.option.long).map(BundleSize.bytes) }

  /// The room that the options `--size` and `--files-size` leave for a bundle.
  func bundleRoom() throws -> BundleRoom { try BundleRoom(size: bundleSize(), attached: attachedBytes()) }
}
