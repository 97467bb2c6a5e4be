import SatchelPlatform
import Testing

@Suite("Times as text")
struct UTCTimeTests {
  @Test(
    "known instants read as they should",
    arguments: [
      (0, "1970-01-01T00:00:00Z"),
      (951_782_400_000, "2000-02-29T00:00:00Z"),
      (951_868_799_999, "2000-02-29T23:59:59Z"),
      (951_868_800_000, "2000-03-01T00:00:00Z"),
      (1_769_846_709_000, "2026-01-31T08:05:09Z"),
      (2_147_483_647_000, "2038-01-19T03:14:07Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00Z"),
      (253_402_300_799_000, "9999-12-31T23:59:59Z"),
      (-1, "1969-12-31T23:59:59Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
    ] as [(Int64, String)])
  func knownInstants(milliseconds: Int64, text: String) {
    #expect(UTCTime.text(milliseconds: milliseconds) == text)
    #expect(UTCTime.fileName(milliseconds: milliseconds) == text.filter { $0 != "-" && $0 != ":" })
  }

  @Test("no number of milliseconds is too far away")
  func extremes() {
    #expect(UTCTime.text(milliseconds: .max).hasPrefix("292278994-"))
    #expect(UTCTime.text(milliseconds: .min).hasPrefix("-292275055-"))
  }

  @Test("the system's clock knows this century")
  func now() {
    #expect((1_700_000_000_000..<4_102_444_800_000).contains(SystemClock().milliseconds()))
  }
}
