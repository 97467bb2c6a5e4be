import SatchelPlatform

/// The room for a bundle that is about to be made, such as the free space of a stick.
///
/// The bundle has all rows, except rows that the dataset allows to come later. Attached files get the room that the
/// rows leave.
public struct BundleRoom: Sendable {
  /// The most bytes of the new bundle's file; nil: no limit.
  public let bytes: Int64?
  /// The most bytes of all attached files; nil: the dataset's limit.
  public let attached: Int64?
  /// The most bytes of the bundle's file that a person requested; nil: no limit.
  private let size: Int64?
  /// Whether the medium already holds this file. A bundle that is already there needs no free space.
  private let isHeld: @Sendable (_ file: String) -> Bool

  /// - Parameters:
  ///   - size: the most bytes of the bundle's file that a person requested; nil: no limit.
  ///   - free: the free bytes of the medium; nil: no limit.
  ///   - attached: the most bytes of attached files; nil: the dataset's limit.
  ///   - isHeld: whether the medium already holds this file.
  public init(
    size: Int64? = nil, free: Int64? = nil, attached: Int64? = nil,
    isHeld: @escaping @Sendable (_ file: String) -> Bool = { _ in false }
  ) {
    bytes = [size, free].compactMap(\.self).min()
    (self.size, self.attached, self.isHeld) = (size, attached, isHeld)
  }

  /// The most bytes of the bundle's file that a person requested; nil: no limit. The free space of a stick does not
  /// count here: a bundle that does not fit on a stick is cut into volumes.
  public var requested: Int64? { size }

  /// Whether a finished bundle fits as it is.
  public func fits(_ file: String, _ files: any FileSystem) throws -> Bool {
    guard let bytes else { return true }
    let needed = try files.size(file)
    return needed <= bytes || needed <= size ?? .max && isHeld(file)
  }

  /// The room for attached files and for their names, in bytes; nil: no limit.
  /// - Parameters:
  ///   - wanted: the bytes of all files that should be in the bundle.
  ///   - database: the path of the database, whose rows are in the bundle.
  ///   - rows: makes the bundle without attached files, and returns the size of its file. It is slow, so it is called
  ///     only if room is scarce.
  func forFiles(
    of wanted: Int64, besides database: String, _ files: any FileSystem, rows: () throws -> Int64
  ) throws -> Int64? {
    guard let bytes, wanted > 0 else { return nil }
    let usable = bytes - bytes / Self.overhead - Self.margin
    if usable <= 0 { return 0 }
    let largest = try [database, "\(database)-wal"].reduce(Int64(0)) { sum, path in
      try sum + (files.kind(path) == .file ? files.size(path) : 0)
    }
    // The room is more than enough, so the rows need not be measured. A line of changes may hold a row twice, as
    // text.
    if wanted < usable / 4, largest < usable / 16 { return nil }
    return try max(0, usable - rows())
  }

  /// The bytes that a file needs besides its content: its names and digests in the bundle's entries.
  static let ofEachFile: Int64 = 2 << 10
  /// Compression and encryption add less than one byte to this number of bytes.
  private static let overhead: Int64 = 2048
  /// The bytes by which the bundle may grow after its rows were measured.
  private static let margin: Int64 = 8 << 10
}
