import SatchelValues

/// Receives each write of a row that one connection makes or takes back.
public protocol RowFollower: AnyObject {
  /// The row is already as the write left it.
  /// - Parameter write: a write that was made, or a write that was taken back with its savepoint.
  func rowWasWritten(_ write: RowWrites.Write)
}

/// Reports the writes of rows that one connection makes, for types that keep results computed from rows.
///
/// If a savepoint is taken back, its writes are reported once more, because each row has changed again.
public final class RowWrites {
  public struct Write {
    public let table: Name
    public let key: RowKey
    /// The positions of the columns that an update wrote; nil: the row was inserted or deleted.
    public let columns: [Int]?

    public init(table: Name, key: RowKey, columns: [Int]?) {
      self.table = table
      self.key = key
      self.columns = columns
    }
  }

  private struct Entry {
    weak var follower: (any RowFollower)?
  }

  private var followers: [Entry] = []
  private var openSavepoints = 0
  /// The writes since the outermost open savepoint began.
  private var kept: [Write] = []

  /// The number of the present write transaction; nil: there is none. No other transaction of the connection has the
  /// same number.
  public private(set) var transaction: Int?
  private var lastTransaction = 0

  /// Whether writes are reported. A database without references needs no report.
  public private(set) var isOn = false

  /// Begins to report writes. A savepoint that is open now must not be taken back.
  public func turnOn() { isOn = true }

  /// Reports all writes from now on to `follower`, as long as it lives.
  public func add(_ follower: any RowFollower) {
    followers.removeAll { $0.follower == nil }
    followers.append(Entry(follower: follower))
  }

  public func report(_ write: Write) {
    if openSavepoints > 0 { kept.append(write) }
    for entry in followers { entry.follower?.rowWasWritten(write) }
  }

  func beginTransaction() {
    lastTransaction += 1
    transaction = lastTransaction
  }

  func endTransaction() { transaction = nil }

  /// Begins a savepoint. Returns the number of writes before it.
  func beginSavepoint() -> Int {
    openSavepoints += 1
    return kept.count
  }

  func endSavepoint() {
    openSavepoints -= 1
    if openSavepoints == 0 { kept = [] }
  }

  /// Reports the writes of a savepoint that was taken back just before.
  func takeBack(after count: Int) {
    for write in kept[count...] {
      for entry in followers { entry.follower?.rowWasWritten(write) }
    }
  }
}
