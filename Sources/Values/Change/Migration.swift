/// The SQL that brings a database from the former dataset version to this one.
public struct Migration: Hashable, Sendable {
  /// The version to which the migration leads.
  public let version: Int64
  public let sql: String

  /// The limit on the length of a script, in bytes. A person writes scripts, so they are short.
  public static let maximumBytes = 256 << 10

  /// How long the scripts of one step may run at the hub, in milliseconds. Meanwhile, other programs cannot write.
  public static let longestAtHub: Int64 = 10 * 60_000
  /// How long the scripts of one step may run at a device, in milliseconds. A device may be much slower than the hub.
  public static let longestAtDevice: Int64 = 30 * 60_000

  public init(version: Int64, sql: String) {
    self.version = version
    self.sql = sql
  }
}
