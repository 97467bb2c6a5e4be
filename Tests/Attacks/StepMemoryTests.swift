import SatchelJSON
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// Some changes of a bundle must stay in memory, because they wait for other changes. Their memory is limited.
@Suite("Memory of the changes that wait in a bundle")
struct StepMemoryTests {
  enum Kind: CaseIterable {
    /// New rows whose parent is missing.
    case orphans
    /// New rows of one unit.
    case unit
    /// New rows that may need other keys, because their keys may be taken.
    case keys
  }

  private let yard: CostFixture
  private let hub: HubWorkspace

  init() throws {
    yard = try CostFixture()
    var hub = yard.hub
    hub.mostMemory = 1 << 20
    self.hub = hub
  }

  private static let count = 100

  /// A new row that needs 20,000 bytes.
  private func line(_ kind: Kind, _ number: Int, _ forger: Forger) -> JSONValue {
    let (key, words) = (JSONValue.string("m\(number)"), JSONValue.string(String(repeating: "x", count: 20_000)))
    switch kind {
    case .orphans: return forger.insert("links", key, ["id": key, "next": "gone", "words": words])
    case .keys:
      let key = JSONValue.integer(Int64(number + 1))
      return forger.insert("numbers", key, ["id": key, "words": words])
    case .unit:
      var members = forger.insert("moves", key, ["id": key, "words": words]).objectValue ?? []
      members.set("unit", 1)
      return .object(members)
    }
  }

  @Test("changes that wait with more memory than the limit refuse the bundle by name", arguments: Kind.allCases)
  func beyondTheLimit(kind: Kind) throws {
    let path = try yard.file(later: 1) { content, forger in
      content.changes = (0..<Self.count).map { line(kind, $0, forger) }
    }
    #expect {
      _ = try hub.importBundle(path)
    } throws: { error in
      let refusal = error as? Refusal
      return refusal?.code == .tooLarge && refusal?.message.contains("memory") == true && refusal?.hint != nil
    }
    // With the usual limit, the same bundle is merged.
    #expect(try yard.hub.importBundle(path).verdict == .imported)
  }

  @Test("changes that waited and were merged need no memory any more")
  func released() throws {
    let path = try yard.file(later: Self.count) { content, forger in
      // Each row is a unit in its own generation. So each unit ends before the next one begins.
      content.changes = (0..<Self.count).map { number in
        var members = line(.unit, number, forger).objectValue ?? []
        members.set("generation", .integer(forger.sequence + Int64(number)))
        return .object(members)
      }
    }
    #expect(try hub.importBundle(path).taken == Self.count)
  }
}
