/// Disjoint sets of the numbers from 0 on. Two sets can be joined.
///
/// The head of a set is its least number. Each operation takes nearly constant time, because paths are halved.
public struct DisjointSets: Sendable {
  private var parents: [Int]

  /// - Parameter count: the number of sets at the beginning, each with one number.
  public init(count: Int = 0) { parents = Array(0..<count) }

  /// Adds a set with one new number, and returns this number.
  public mutating func add() -> Int {
    parents.append(parents.count)
    return parents.count - 1
  }

  public mutating func head(of number: Int) -> Int {
    var number = number
    while parents[number] != number {
      parents[number] = parents[parents[number]]
      number = parents[number]
    }
    return number
  }

  public mutating func join(_ a: Int, _ b: Int) {
    let (first, second) = (head(of: a), head(of: b))
    if first != second { parents[max(first, second)] = min(first, second) }
  }
}
