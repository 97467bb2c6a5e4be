import SatchelJSON
import Testing

/// The office wrote rows while its clock was wrong by 179 days, just less than half a year. Afterwards the clock is
/// right.
extension TimeTests {
  private static let wrong = 179 * day
  static let hour: Int64 = 3_600_000

  func hours(_ count: Int64) -> Int64 { now + count * Self.hour }

  /// The conflicts at the hub. Each has the hub's value, the device's value, and the state.
  func conflicts() throws -> [String] {
    let found = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    return found.map { conflict in
      let texts = [conflict["hub_values"]?["words"], conflict["device_values"]?["words"], conflict["state"]]
      return texts.map { $0?.stringValue ?? "-" }.joined(separator: " | ")
    }
  }

  func acceptClock(at time: Int64) throws {
    try atHub(time) {
      let repaired = camp.hub("doctor", "--repair")
      #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    }
  }

  /// Both devices import the hub's rows. Expects that all three replicas then have `expected`.
  func agree(on expected: String, at time: Int64) throws {
    #expect(try words() == expected)
    for name in ["phone", "tablet"] {
      try answer(name, at: time, hubAt: time)
      #expect(try words("\(name)/data.sqlite") == expected, "\(name)")
    }
    try atHub(time) { #expect(camp.hub("doctor").code == 0) }
  }

  @Test(
    "a device's later write wins over a row that the office wrote by a wrong clock, if no device has that row",
    arguments: [wrong, -wrong])
  func officeUnsent(_ error: Int64) throws {
    try write("office", in: "office.sqlite", at: now + error)
    let outcome = try emission(for: "phone", at: hours(1))
    if error > 0 {
      #expect(outcome.code == 3)
      #expect(outcome.error.contains("Rows were written at this hub while its own clock showed"), "\(outcome.error)")
      try acceptClock(at: hours(1))
    } else {
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(2))
    try deliver("tablet", at: hours(3), hubAt: hours(3))
    #expect(try conflicts() == ["office | later, by the tablet | settled"])
    try agree(on: "later, by the tablet", at: hours(4))
  }

  /// A repair cannot lower a stamp that a device has received. `status` says so.
  @Test(
    "a person decides between a row sent by a clock that was ahead and a later one, and status says so"
  )
  func officeAheadSent() throws {
    let ahead = now + Self.wrong
    try write("office", in: "office.sqlite", at: ahead)
    try answer("phone", at: hours(1), hubAt: ahead)
    let outcome = try emission(for: "tablet", at: hours(2))
    #expect(outcome.code == 3 && outcome.error.contains("This hub's own clock was set back"), "\(outcome.error)")
    try acceptClock(at: hours(2))
    try atHub(hours(2)) { #expect(camp.hub("status").out.contains("devices were sent times up to")) }
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(3))
    try deliver("tablet", at: hours(4), hubAt: hours(4))
    #expect(try conflicts() == ["office | later, by the tablet | open"])
    #expect(try words() == "office", "the office's row stays until a person decides")
    // The phone knows the office's row, so the phone's next write gets a later stamp.
    try write("later still, by the phone", in: "phone/data.sqlite", at: hours(5))
    try deliver("phone", at: hours(6), hubAt: hours(6))
    try agree(on: "later still, by the phone", at: hours(7))
    try write("last, by the tablet", in: "tablet/data.sqlite", at: hours(8))
    try deliver("tablet", at: hours(9), hubAt: hours(9))
    try agree(on: "last, by the tablet", at: hours(10))
    #expect(try conflicts().count == 1)
  }

  @Test("a device's later write wins over a row that the office wrote and sent by a clock that was behind")
  func officeBehindSent() throws {
    let behind = now - Self.wrong
    try atHub(behind) { #expect(camp.hub("emit", "--device", "phone").code == 3) }
    try acceptClock(at: behind)
    try write("office", in: "office.sqlite", at: behind)
    try answer("phone", at: hours(1), hubAt: behind + Self.hour)
    // The clock is right again, and 179 days later. The hub asks no person, because it may have been unused for this
    // time.
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(2))
    try deliver("tablet", at: hours(3), hubAt: hours(3))
    #expect(try conflicts() == ["office | later, by the tablet | settled"])
    try agree(on: "later, by the tablet", at: hours(4))
  }

  @Test(
    "a write of the office by a clock that was behind wins over all that is older than what the hub had seen",
    arguments: ["n", "m"])
  func officeBehindIsLater(rowOfPhone: String) throws {
    try write("first, by the tablet", in: "tablet/data.sqlite", at: hours(1))
    try write("second, by the phone", to: rowOfPhone, in: "phone/data.sqlite", at: hours(2))
    try deliver("phone", at: hours(3), hubAt: hours(3))
    try write("third, by the office", in: "office.sqlite", at: hours(4) - Self.wrong)
    // The phone delivers once more, before it has the office's write.
    try write("more", to: "m", in: "phone/data.sqlite", at: hours(5))
    try deliver("phone", at: hours(5), hubAt: hours(5))
    #expect(try conflicts() == [])
    try deliver("tablet", at: hours(6), hubAt: hours(6))
    #expect(try conflicts() == ["third, by the office | first, by the tablet | settled"])
    try agree(on: "third, by the office", at: hours(7))
  }
}
