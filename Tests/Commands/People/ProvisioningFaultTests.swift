import Foundation
import SatchelPlatform
import Testing

@Suite("A device's folder that cannot be made")
struct ProvisioningFaultTests {
  let ready: CommandLineFixture

  init() throws {
    ready = try CommandLineFixture()
    try ready.open()
  }

  @Test(
    """
    whatever change to a file fails that is not SQLite's, the hub knows a device whose folder is there, or neither is \
    and the name is free
    """
  )
  func eachCall() throws {
    var number = 0
    while true {
      number += 1
      let camp = try CommandLineFixture(copyOf: ready)
      let fault = TroubledFiles.Fault(at: number)
      camp.platform = Platform(files: TroubledFiles(fault: fault), clock: SystemClock(), random: SystemRandom())
      let outcome = camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.path("second"))
      camp.platform = .real
      let isThere = FileManager.default.fileExists(atPath: camp.path("second/satchel.json"))
      #expect(isThere == (outcome.code == 0), "call \(number): \(outcome.error)")
      #expect(try isKnown("second", camp) == isThere, "call \(number): \(outcome.error)")
      if !isThere {
        #expect(
          camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.path("second")).code == 0,
          "call \(number)")
      }
      try camp.carry("second")
      #expect(camp.device("second", "doctor").code == 0, "call \(number)")
      if !fault.wasReached { break }
    }
    #expect(number > 50)
  }

  private func isKnown(_ name: String, _ camp: CommandLineFixture) throws -> Bool {
    try camp.hub("device", "list", "--json").json["devices"]?.arrayValue?.contains { $0["name"]?.stringValue == name }
      ?? false
  }
}
