import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// The number of changes of one row in one bundle is limited.
@Suite("Limit of the changes of one row")
struct StepLimitTests {
  private let yard: CostFixture
  private let hub: HubWorkspace

  init() throws {
    yard = try CostFixture()
    var hub = yard.hub
    hub.mostSteps = 10
    self.hub = hub
  }

  private func file(steps count: Int) throws -> String { try yard.file(of: count, .steps) }

  @Test("a bundle with as many changes of a row as the limit is taken")
  func atTheLimit() throws { #expect(try hub.importBundle(file(steps: 10)).taken == 10) }

  @Test("a bundle with more than twice as many changes of a row is refused by name, and changes nothing")
  func beyondTheLimit() throws {
    let path = try file(steps: 21)
    #expect {
      _ = try hub.importBundle(path)
    } throws: { error in
      let refusal = error as? Refusal
      return refusal?.code == .tooLarge && refusal?.message.contains(#"rows ["own"]"#) == true && refusal?.hint != nil
    }
    let database = try Database(path: hub.folder.path("data.sqlite"), mode: .readOnly)
    #expect(try database.all("SELECT words FROM rows WHERE id = 'own'") { $0.text(0) } == ["0"])
  }

  @Test("a bundle with many changes of many rows is taken")
  func manyRows() throws { #expect(try hub.importBundle(yard.file(of: 500, .rows)).taken == 500) }
}
