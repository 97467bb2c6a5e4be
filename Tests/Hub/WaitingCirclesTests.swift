import Testing

@testable import SatchelHub

@Suite("The circles of rows that wait for one another")
struct WaitingCirclesTests {
  @Test("a circle is one group, and comes after the rows for which it waits and before the rows that wait for it")
  func order() {
    // Row 0 waits for the circle of the rows 1, 2 and 3. This circle waits for row 4.
    #expect(WaitingCircles([[1], [2], [3], [1, 4], []]).groups == [[4], [1, 2, 3], [0]])
  }

  @Test("circles that share a node are one group, and a node that waits for itself is a group by itself")
  func shared() {
    #expect(WaitingCircles([[1], [0, 2], [1], [3], []]).groups == [[0, 1, 2], [3], [4]])
    #expect(WaitingCircles([]).groups == [])
  }

  @Test("a circle of any length is found, in time by its length")
  func long() {
    let count = 200_000
    #expect(WaitingCircles((0..<count).map { [($0 + 1) % count] }).groups == [Array(0..<count)])
  }
}
