import SatchelValues

/// The result of an export.
public struct ExportReport: Sendable {
  public let sequence: SequenceNumber
  /// The bundle's file in the outbox.
  public internal(set) var file: String
  /// The number of steps that the bundle carries, by table, in the dataset's order.
  public let changes: [(table: Name, count: Int)]
  public let conflicts: Int
  /// The number of attached files that the bundle carries. `attachedLeft`: how many are left for later exports.
  public var attached = 0
  public var attachedLeft = 0
  /// The number of attached files that are missing here and that the bundle requests from the hub.
  public var attachedLost = 0
  /// Whether the bundle carries digests of all rows.
  public var isProved = false
  /// The size of the bundle's file.
  public var bytes: Int64 = 0
  /// False: nothing has changed since the last export, and `file` is the file of that export.
  public let isNew: Bool
}
