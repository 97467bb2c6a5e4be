import SatchelJSON
import SatchelValues

/// The limits of a table for what one bundle may delete or change. A bundle beyond a limit waits as a whole until a
/// person has looked at it, because it may be a mistake.
public struct Brake: Hashable, Sendable {
  /// The greatest share of a table's rows that a bundle may delete, in percent; 100 means no limit. `changePercent`
  /// is the same limit for changed rows.
  public let deletePercent: Int64
  public let changePercent: Int64
  /// A bundle that deletes or changes at most this many rows never waits.
  public let rows: Int64

  public static let usual = Brake(deletePercent: 10, changePercent: 50, rows: 20)

  /// Whether a bundle never waits because of this table.
  public var isOff: Bool { deletePercent == 100 && changePercent == 100 }

  /// Whether `count` deleted or changed rows are beyond the limit.
  /// - Parameters:
  ///   - all: the number of rows of which `count` is a part.
  ///   - percent: the limit.
  public func isBeyond(_ count: Int64, of all: Int64, percent: Int64) -> Bool {
    // A bundle has fewer than 2^40 rows, so the products do not overflow.
    percent < 100 && count > rows && count * 100 > all * percent
  }
}

extension Brake {
  static let members = ["delete", "change", "rows"]

  /// Reads the limits in an object of the definition. A missing limit has its value in `outer`.
  init(_ members: Members, within outer: Brake) throws(DatasetError) {
    deletePercent = try Self.percent("delete", members) ?? outer.deletePercent
    changePercent = try Self.percent("change", members) ?? outer.changePercent
    guard members["rows"] != nil else {
      rows = outer.rows
      return
    }
    rows = try members.integer("rows")
    guard (0...1_000_000_000).contains(rows) else {
      throw DatasetError(members.place("rows"), "it must be a whole number from 0 to 1000000000")
    }
  }

  /// Reads a share such as `"10%"`.
  private static func percent(_ name: String, _ members: Members) throws(DatasetError) -> Int64? {
    guard let text = try members.optionalString(name) else { return nil }
    guard text.hasSuffix("%"), let percent = Int64(text.dropLast()), (0...100).contains(percent),
      text == "\(percent)%"
    else { throw DatasetError(members.place(name), "it must be a share from \"0%\" to \"100%\", such as \"10%\"") }
    return percent
  }
}
