import SatchelValues

/// Receives each write of a row that one connection makes or rolls back.
public protocol RowFollower: AnyObject {
  /// Called after the row has changed.
  /// - Parameter write: a write that was made, or a write that was rolled back with its savepoint.
  func rowWasWritten(_ write: RowWrites.Write)
}

/// Reports the row writes of one connection to types that store results computed from rows.
///
/// If a savepoint is rolled back, this class reports its writes a second time, because each row has changed again.
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

  /// The number of the present write transaction; nil if no write transaction is open. No other transaction of the
  /// connection has the same number.
  public private(set) var transaction: Int?
  private var lastTransaction = 0

  /// Whether callers must report their writes. They need no report if the database has no references.
  public private(set) var isOn = false

  /// Asks callers to report their writes. A savepoint that is already open must not be rolled back later.
  public func turnOn() { isOn = true }

  /// Passes all later writes to `follower`, as long as the follower exists.
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

  /// Begins a savepoint. Returns the number of recorded writes before the savepoint.
  func beginSavepoint() -> Int {
    openSavepoints += 1
    return kept.count
  }

  func endSavepoint() {
    openSavepoints -= 1
    if openSavepoints == 0 { kept = [] }
  }

  /// Reports the writes of a savepoint that was just rolled back.
  func takeBack(after count: Int) {
    for write in kept[count...] {
      for entry in followers { entry.follower?.rowWasWritten(write) }
    }
  }
}
