/// A statement that is prepared at its first use.
///
/// Most commands use only a few of the statements that an import needs. Preparing all of them took a tenth of the time
/// in which a hub opens its database.
public final class LazyStatement {
  private let sql: String
  private var kept: KeptStatement?

  public init(_ sql: String) { self.sql = sql }

  /// The prepared statement.
  /// - Parameter other: any statement of the same connection.
  public func prepared(beside other: borrowing Statement) throws(SQLiteError) -> KeptStatement {
    if let kept { return kept }
    let made = KeptStatement(try other.prepareAnother(sql))
    kept = made
    return made
  }
}
