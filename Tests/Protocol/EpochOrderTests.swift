import SatchelBundle
import SatchelValues
import Testing

@testable import SatchelDevice

@Suite("The order of bundles of several epochs")
struct EpochOrderTests {
  private static let epochs = (1...3).map { Epoch("00000000-0000-4000-8000-00000000000\($0)")! }

  private func scope(_ epoch: Int, _ number: Int64, after former: [Int]) -> Manifest.Scope {
    var scope = Manifest.Scope(
      epoch: Self.epochs[epoch], number: EmissionNumber(number), after: .zero, extent: .full, acknowledged: .zero)
    scope.former = former.map { Self.epochs[$0] }
    return scope
  }

  @Test("a bundle of a later epoch comes later, although a hub that was put back gave greater numbers before")
  func numbers() {
    // A device names only the epoch from which it came. So a bundle of the third epoch need not name the first epoch.
    let inOrder = [scope(0, 7, after: []), scope(0, 9, after: []), scope(1, 4, after: [0]), scope(2, 2, after: [1])]
    let order = EpochOrder(inOrder)
    #expect(inOrder.reversed().sorted { order.precedes($0, $1) }.map(\.number) == inOrder.map(\.number))
  }

  @Test("bundles of epochs that do not name each other are in the order of their numbers")
  func strangers() {
    let scopes = [scope(1, 8, after: []), scope(0, 7, after: [])]
    let order = EpochOrder(scopes)
    #expect(order.precedes(scopes[1], scopes[0]))
    #expect(!order.precedes(scopes[0], scopes[1]))
  }
}
