import SatchelPlatform

/// The room for a bundle that is about to be made, such as the free space of a stick.
///
/// The rows go, except those that the dataset lets wait. Attached files take the room that the rows leave.
public struct BundleRoom: Sendable {
  /// The most bytes of a new bundle's file; nil: there is no limit.
  public let bytes: Int64?
  /// The most bytes of attached files; nil: the dataset's limit.
  public let attached: Int64?
  /// The most bytes of any bundle's file, as a person requested. nil: any.
  private let size: Int64?
  /// Whether the medium holds the bundle with this file already. Such a bundle needs no free space.
  private let isHeld: @Sendable (_ file: String) -> Bool

  /// - Parameters:
  ///   - size: the most bytes of the bundle's file, as a person requested; nil: any.
  ///   - free: the free bytes of the medium; nil: any.
  ///   - attached: the most bytes of attached files; nil: the dataset's limit.
  ///   - isHeld: whether the medium holds the bundle with this file already.
  public init(
    size: Int64? = nil, free: Int64? = nil, attached: Int64? = nil,
    isHeld: @escaping @Sendable (_ file: String) -> Bool = { _ in false }
  ) {
    bytes = [size, free].compactMap(\.self).min()
    (self.size, self.attached, self.isHeld) = (size, attached, isHeld)
  }

  /// The most bytes of the bundle's file, as a person requested. nil: any. The free space of a stick is no request:
  /// what does not fit there goes in volumes.
  public var requested: Int64? { size }

  /// Whether a finished bundle can be carried as it is.
  public func fits(_ file: String, _ files: any FileSystem) throws -> Bool {
    guard let bytes else { return true }
    let needed = try files.size(file)
    return needed <= bytes || needed <= size ?? .max && isHeld(file)
  }

  /// The room for attached files and for their names; nil: there is no limit.
  /// - Parameters:
  ///   - wanted: the bytes of all files that should go.
  ///   - database: the path of the database, whose rows are in the bundle.
  ///   - rows: makes the bundle without files, and returns the size of its file. That takes time, so it is called only
  ///     if the room is scarce.
  func forFiles(
    of wanted: Int64, besides database: String, _ files: any FileSystem, rows: () throws -> Int64
  ) throws -> Int64? {
    guard let bytes, wanted > 0 else { return nil }
    let usable = bytes - bytes / Self.overhead - Self.margin
    if usable <= 0 { return 0 }
    let largest = try [database, "\(database)-wal"].reduce(Int64(0)) { sum, path in
      try sum + (files.kind(path) == .file ? files.size(path) : 0)
    }
    // Lines of changes hold a row twice, as text.
    if wanted < usable / 4, largest < usable / 16 { return nil }
    return try max(0, usable - rows())
  }

  /// The room that a file takes beside its bytes: its names and digests in the bundle's entries.
  static let ofEachFile: Int64 = 2 << 10
  /// Compression and encryption add less than one byte to so many bytes.
  private static let overhead: Int64 = 2048
  /// The bytes that the bundle may grow between the measurement and the making.
  private static let margin: Int64 = 8 << 10
}
