import SatchelValues

/// The changes of this device that met another change at the hub, as a bundle reports them for the first time.
public struct ConflictOutcomes: Sendable {
  /// The number of changes of which all values of the device count.
  public var won = 0
  /// The number of changes of which the hub's value counts, at least in a part of the row.
  public var lost = 0
  /// The number of changes about which a person must decide, or that wait for another row.
  public var open = 0
  /// The number of changes that the hub accepted although their user has meanwhile lost the right to make them.
  public var late = 0

  /// The number of changes that the hub could not apply as they were.
  public var count: Int { won + lost + open }

  mutating func add(_ record: ConflictRecord) {
    if record.isTakenLate {
      late += 1
    } else if record.state == .open || record.state == .held {
      open += 1
    } else if record.isDevicesValue {
      won += 1
    } else {
      lost += 1
    }
  }
}

extension ConflictRecord {
  /// Whether the hub took the device's values in all columns in which the sides disagree.
  fileprivate var isDevicesValue: Bool {
    winners.isEmpty ? rowWinner == .device : winners.allSatisfy { $0.winner == .device }
  }
}
