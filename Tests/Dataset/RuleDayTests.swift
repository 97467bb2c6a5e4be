import SatchelDataset
import Testing

@Suite("The day in rules")
struct RuleDayTests {
  @Test(
    "a rule reads the day if it has the parameter, and no longer word",
    arguments: [
      ("day >= :today", true), ("day >= date(:today, '-30 days')", true), (":today", true), ("day = :todays", false),
      ("today = day", false), ("day = :user", false), ("day = :TODAY", false), ("", false), (":toda", false),
    ])
  func read(rule: String, isRead: Bool) { #expect(RuleDay.isRead(by: rule) == isRead) }

  @Test("an attribute of this name takes the day's place, and rows without such a rule stay")
  func tables() throws {
    func leaves(_ more: String, _ rule: String) throws -> Bool {
      let json = #"{ "dataset": "d", "version": 1, \#(more) "tables": { "t": { "visible": "\#(rule)" } } }"#
      let definition = try DatasetDefinition(json: Array(json.utf8))
      return definition.rowsLeaveByDay(definition.tables[0])
    }
    #expect(try leaves("", "a > :today"))
    #expect(try !leaves("", "a > :user"))
    #expect(try !leaves(#""attributes": { "today": "text" },"#, "a > :today"))
  }
}
