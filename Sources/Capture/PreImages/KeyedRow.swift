import SatchelValues

/// Names a row by the index of its table in the dataset, and by the value of its only key column.
public struct KeyedRow: Hashable, Sendable {
  public let place: Int
  public let key: Value

  public init(place: Int, key: Value) {
    self.place = place
    self.key = key
  }
}
