/// The SQL that brings a database from the version of the dataset before to this one.
public struct Migration: Hashable, Sendable {
  /// To which version it leads.
  public let version: Int64
  public let sql: String

  /// The largest script, in bytes: a person wrote it.
  public static let maximumBytes = 256 << 10

  public init(version: Int64, sql: String) {
    self.version = version
    self.sql = sql
  }
}
