import SatchelPlatform
import Testing

@Suite("Local times as text")
struct LocalTimeTests {
  /// A clock one hour ahead of UTC, and two hours from 2026-03-29T01:00:00Z on.
  private struct SummerClock: WallClock {
    static let change: Int64 = 1_774_746_000_000

    func milliseconds() -> Int64 { 0 }
    func pause(milliseconds: Int64) {}
    func secondsEast(at milliseconds: Int64) -> Int64 { milliseconds < Self.change ? 3600 : 7200 }
  }

  /// A clock with one zone.
  private struct ZonedClock: WallClock {
    let east: Int64

    func milliseconds() -> Int64 { 0 }
    func pause(milliseconds: Int64) {}
    func secondsEast(at milliseconds: Int64) -> Int64 { east }
  }

  @Test(
    "a time shows its zone",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (7200, "1970-01-01T02:00:00+02:00"), (-12_600, "1969-12-31T20:30:00-03:30"),
      (20_700, "1970-01-01T05:45:00+05:45"),
    ] as [(Int64, String)])
  func zones(east: Int64, text: String) {
    let clock = ZonedClock(east: east)
    #expect(clock.localText(milliseconds: 0) == text)
    #expect(clock.beginning(text) == 0)
  }

  @Test("a day begins and ends at local midnight, also if its clock changes to summer time")
  func days() throws {
    let clock = SummerClock()
    let begin = try #require(clock.beginning("2026-03-29"))
    let end = try #require(clock.endOfLocalDay("2026-03-29"))
    #expect(clock.localText(milliseconds: begin) == "2026-03-29T00:00:00+01:00")
    #expect(clock.localText(milliseconds: end) == "2026-03-30T00:00:00+02:00")
    #expect(end - begin == 23 * 3_600_000)
    #expect(clock.localDay(milliseconds: end - 1) == "2026-03-29")
  }

  @Test(
    "a text of another form is no time",
    arguments: ["", "2026-13-01", "2026-05-01T08:00:00", "2026-05-01T08:00:00+0200", "2026-05-01T08:00:00*02:00"])
  func others(text: String) {
    #expect(ZonedClock(east: 3600).beginning(text) == nil)
  }

  @Test("no number of milliseconds is too far away for a zone", arguments: [7200, -7200] as [Int64])
  func extremes(east: Int64) {
    for moment in [Int64.max, .min] {
      #expect(!ZonedClock(east: east).localText(milliseconds: moment).isEmpty)
    }
  }
}
