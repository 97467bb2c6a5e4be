import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

@Suite("The lines of many steps")
struct StepLineTests {
  let folder: TemporaryFolder
  let platform = Platform.still()
  private static let schemas = ["parents", "children"].map {
    TableSchema(name: Name($0), columns: ["id", "words"], key: [0], foreignKeys: [])
  }

  init() throws { folder = try TemporaryFolder() }

  private func step(_ number: Int, of table: Int, _ generation: Int64, words: Value) -> Step {
    let key: Value = .integer(Int64(number))
    return Step(
      table: Self.schemas[table].name, key: RowKey([key]), generation: Generation(generation),
      stamp: Stamp(rawValue: 1),
      change: number.isMultiple(of: 3)
        ? .update([ColumnChange(column: 1, was: .null, value: words)]) : .insert(Row([key, words])))
  }

  private func manifest(changes: Int64) -> Manifest {
    Manifest(
      bundle: platform.random.identifier(), dataset: "d", version: 1,
      from: .init(id: platform.random.identifier(), name: "tablet"),
      to: .init(id: platform.random.identifier(), name: "hub"), user: "ann", created: "2026-01-31T08:05:09Z",
      stamp: Stamp(rawValue: .max), changes: changes, conflicts: 0, resolutions: 0,
      body: .changes(
        .init(
          epoch: platform.random.identifier(), incarnation: platform.random.identifier(), received: EmissionNumber(0),
          sequence: SequenceNumber(1), chain: [])))
  }

  /// Writes a bundle with these steps, reads it again, and returns its lines.
  private func lines(_ steps: [(ApplyOrder, Int, Step)], behind first: [ChangeLine] = []) throws -> [ChangeLine] {
    var draft = try BundleDraft(in: folder.path, platform: platform)
    try draft.addSteps(of: Self.schemas, behind: first) { add in
      for (place, table, step) in steps { try add(place, table, step) }
    }
    let sealed = try draft.seal(manifest(changes: draft.count(of: .changes)), with: .testKey())
    let bundle = try BundleReader(platform: platform).read(
      draft.write(sealed), trust: .keys([SigningKey.testKey().publicKey]), staging: folder.path)
    var lines: [ChangeLine] = []
    try bundle.eachChange { lines.append($0) }
    return lines
  }

  @Test(
    "lines are in the order of their places, and in one place as they came, for any number of lines",
    arguments: [1, 1_023, 1_024, 1_025, 6_000, 40_000])
  func order(count: Int) throws {
    var random = SplitMix64(seed: UInt64(count))
    let steps = (0..<count).map { number in
      let (table, generation) = (random.below(2), Int64(random.below(3)))
      let words = Value.string(
        String(repeating: "w", count: number == 500 ? 2 << 20 : number.isMultiple(of: 997) ? 300_000 : random.below(40))
      )
      return (
        ApplyOrder(generation: Generation(generation), order: table), table,
        step(number, of: table, generation, words: words)
      )
    }
    let sorted = steps.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element)
    #expect(try lines(steps) == sorted.map { ChangeLine($2, schema: Self.schemas[$1]) })
    // Steps usually arrive in this order.
    #expect(try lines(sorted) == sorted.map { ChangeLine($2, schema: Self.schemas[$1]) })
  }

  @Test("a row that is too large is named, at any position")
  func tooLarge() throws {
    let place = 700
    let large = Value.blob([UInt8](repeating: 0, count: BundleLimits().lineBytes))
    let steps = (0..<2_000).map { number in
      (
        ApplyOrder(generation: Generation(0), order: 0), 0,
        step(number, of: 0, 0, words: number == place ? large : .null)
      )
    }
    let error = #expect(throws: BundleError.self) { try lines(steps) }
    let message = error?.message ?? ""
    #expect(message.contains("parents [\(place)]"), "\(message)")
  }
}
