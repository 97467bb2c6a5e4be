import SatchelValues

/// Identifies a row in a table with a single key column: by the index of the table in the dataset and the key's
/// value.
public struct KeyedRow: Hashable, Sendable {
  public let place: Int
  public let key: Value

  public init(place: Int, key: Value) {
    self.place = place
    self.key = key
  }
}
