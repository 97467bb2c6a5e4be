/// The SQL that brings a database from the former dataset version to this one.
public struct Migration: Hashable, Sendable {
  /// The version to which the migration leads.
  public let version: Int64
  public let sql: String

  /// The most bytes of a script. People write the scripts, so they are short.
  public static let maximumBytes = 256 << 10

  /// The longest time in milliseconds for all scripts of one new version at the hub. Other programs cannot write
  /// meanwhile.
  public static let longestAtHub: Int64 = 10 * 60_000
  /// The longest time in milliseconds for all scripts of one new version on a device, which may be much slower.
  public static let longestAtDevice: Int64 = 30 * 60_000

  public init(version: Int64, sql: String) {
    self.version = version
    self.sql = sql
  }
}
