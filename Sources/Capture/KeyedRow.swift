import SatchelValues

/// A row by the index of its table in the dataset and the value of its one key column.
public struct KeyedRow: Hashable, Sendable {
  public let place: Int
  public let key: Value

  public init(place: Int, key: Value) {
    self.place = place
    self.key = key
  }
}
