import SatchelJSON
import SatchelValues

/// The limits of one table for the changes of one bundle. A bundle beyond a limit waits as a whole, until a person has
/// looked at it: a mistake may have deleted or changed the rows.
public struct Brake: Hashable, Sendable {
  /// The greatest part of the rows that a bundle may delete or change, in percent. 100: any part.
  public let deletePercent: Int64
  public let changePercent: Int64
  /// A bundle that deletes or changes at most this many rows never waits.
  public let rows: Int64

  public static let usual = Brake(deletePercent: 10, changePercent: 50, rows: 20)

  /// Whether no bundle ever waits.
  public var isOff: Bool { deletePercent == 100 && changePercent == 100 }

  /// Whether so many deleted or changed rows, of so many rows in all, are beyond a limit of so many percent.
  public func isBeyond(_ count: Int64, of all: Int64, percent: Int64) -> Bool {
    // A bundle has fewer than 2^40 rows, so that the products fit.
    percent < 100 && count > rows && count * 100 > all * percent
  }
}

extension Brake {
  static let members = ["delete", "change", "rows"]

  /// The limits that an object of the definition gives. Those that it leaves out are as in `outer`.
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

  /// `"10%"`.
  private static func percent(_ name: String, _ members: Members) throws(DatasetError) -> Int64? {
    guard let text = try members.optionalString(name) else { return nil }
    guard text.hasSuffix("%"), let percent = Int64(text.dropLast()), (0...100).contains(percent),
      text == "\(percent)%"
    else { throw DatasetError(members.place(name), "it must be a share from \"0%\" to \"100%\", such as \"10%\"") }
    return percent
  }
}
