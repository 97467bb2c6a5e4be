/// The circles of a graph: its strongly connected groups of nodes.
///
/// From each node of a circle, the search can reach all its other nodes. A node that is in no circle is a group alone.
/// The cost grows with the number of nodes and edges. Source: Tarjan, "Depth-first search and linear graph algorithms",
/// 1972.
struct WaitingCircles {
  /// The circles, each with its nodes in ascending order. A circle comes after the circles that it awaits.
  private(set) var groups: [[Int]] = []

  /// The numbers of the nodes that each node awaits.
  private let awaited: [[Int]]
  /// The place of each node in the order of the search, counted from 1. 0 if the search has not found the node yet.
  private var found: [Int]
  /// For each node: the lowest place of an open node that the search reached from it.
  private var earliest: [Int]
  /// The found nodes whose circle is not complete yet, in the order of the search.
  private var open: [Int] = []
  private var isOpen: [Bool]
  private var count = 0

  init(_ awaited: [[Int]]) {
    self.awaited = awaited
    found = Array(repeating: 0, count: awaited.count)
    earliest = found
    isOpen = Array(repeating: false, count: awaited.count)
    for node in awaited.indices where found[node] == 0 { search(from: node) }
  }

  private mutating func search(from start: Int) {
    begin(start)
    var path = [(node: start, next: 0)]
    while var last = path.popLast() {
      guard last.next < awaited[last.node].count else {
        if let parent = path.last?.node { earliest[parent] = min(earliest[parent], earliest[last.node]) }
        if earliest[last.node] == found[last.node] { complete(last.node) }
        continue
      }
      let next = awaited[last.node][last.next]
      last.next += 1
      path.append(last)
      if found[next] == 0 {
        begin(next)
        path.append((next, 0))
      } else if isOpen[next] {
        earliest[last.node] = min(earliest[last.node], found[next])
      }
    }
  }

  private mutating func begin(_ node: Int) {
    count += 1
    (found[node], earliest[node]) = (count, count)
    open.append(node)
    isOpen[node] = true
  }

  /// Completes the circle of which the search found `first` before the other nodes.
  private mutating func complete(_ first: Int) {
    var group: [Int] = []
    while group.last != first {
      let node = open.removeLast()
      isOpen[node] = false
      group.append(node)
    }
    groups.append(group.sorted())
  }
}
