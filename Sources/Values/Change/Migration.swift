/// The SQL that brings a database from the former dataset version to this one.
public struct Migration: Hashable, Sendable {
  /// The version to which it leads.
  public let version: Int64
  public let sql: String

  /// The largest script, in bytes: a person wrote it.
  public static let maximumBytes = 256 << 10

  /// How long the scripts of one step may run at the hub, in milliseconds. Others cannot write meanwhile.
  public static let longestAtHub: Int64 = 10 * 60_000
  /// The same at a device, which may be much slower than the hub.
  public static let longestAtDevice: Int64 = 30 * 60_000

  public init(version: Int64, sql: String) {
    self.version = version
    self.sql = sql
  }
}
