import Foundation
import TestSupport
import Testing

@Suite("Histories of which each writer knew all, at a hub that was set back")
struct KnownHistoryTests {
  /// The seeds of the histories. SATCHEL_SEED and SATCHEL_HISTORIES can select other seeds or more of them.
  static let seeds = historySeeds(usually: 2)

  @Test("all devices and the hub end with the rows that the last writer left, in every order", arguments: seeds)
  func anyOrder(seed: UInt64) throws {
    let camp = try CommandLineFixture()
    var history = try KnownHistory(seed: seed, in: camp)
    try camp.keepHub()
    try history.write(times: 7)
    let truth = try history.rows("office.sqlite")
    for device in KnownHistory.devices {
      #expect(try history.rows("\(device)/data.sqlite") == truth)
      try camp.copy(device, to: "\(device)-then")
    }
    let story = history.writes.map { "\($0.device): \($0.statement)" }.joined(separator: "\n")
    for _ in 1...3 {
      try camp.putBackHub()
      try camp.removeIfThere("stick")
      #expect(camp.hub("restore", "--in-place").code == 0)
      let order = history.order()
      for _ in 1...3 { for device in order { try camp.carry(device) } }
      for database in ["office.sqlite"] + KnownHistory.devices.map({ "\($0)/data.sqlite" }) {
        #expect(try history.rows(database) == truth, "seed \(seed), \(database), \(order)\n\(story)")
      }
      let open = "SELECT kind, table_name, key FROM satchel_conflicts WHERE state IN ('open', 'held')"
      #expect(try camp.rows("office.sqlite", open) == "", "seed \(seed), \(order)\n\(story)")
      for device in KnownHistory.devices {
        try camp.remove(device)
        try camp.copy("\(device)-then", to: device)
      }
    }
  }
}
