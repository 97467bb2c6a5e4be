import SimulatedWorld
import TestSupport

/// One event of a season. It depends on no other event, so any event can be left out of a season.
public struct SeasonEvent: Hashable, Sendable, CustomStringConvertible {
  public enum Kind: String, CaseIterable, Sendable {
    case write, hubWrite, export, emit, carry
    /// A bundle arrives with wrong bytes.
    case damagedCarry
    case rights, version
    /// A conflict is decided, on a device or at the hub.
    case resolve, hubResolve
    /// A device's folder is copied, and both copies continue.
    case clone
    /// A device is lost, and its user gets a new one.
    case lostDevice
    /// A device's database is lost while an export is on its way. A full bundle makes a new database.
    case lostDatabase
    /// An earlier copy of a device's database is put back.
    case oldCopy
    case backup, restoreHub, compact
    case clockJump
    /// The clock of the hub's computer goes wrong, by minutes or by years, or is set right.
    case hubClock
    /// A person counts: a number to which several people add.
    case count
    /// The hub's folder is copied, and put back later without a notice.
    case copyHub, putBackHub
    /// A copy of the hub works beside it for a while.
    case secondHub
    /// A thief signs with the hub's key, until the operator detects it and makes a new key.
    case stolenKey
    /// A device's database is deleted, emptied or created again by its app, while exports are on their way.
    case brokenDatabase
    /// A device goes to another user, even if the former user's changes are not delivered.
    case given
    /// A valid bundle of another history is offered.
    case falseHistory
    /// A program writes a row of a device with the triggers switched off.
    case unseenWrite
    /// The hub is lost with all backups, and a new one takes its place.
    case newHub
    /// A device's folder is backed up, or put back from its backup. A stick that the device wrote before comes late.
    case restoredFolder, lateStick
  }

  public let kind: Kind
  public let device: Int
  /// The seed of the random choices in the event.
  public let seed: UInt64
  public let fault: Fault.Kind?
  /// The time of the fault, in thousandths of the steps that such an event takes.
  public let progress: Int

  public var description: String {
    "\(kind) device \(device)" + (fault.map { ", \($0)" } ?? "")
  }

  /// The frequency of each kind.
  private static let shares: [(Kind, Int)] = [
    (.write, 36), (.hubWrite, 8), (.export, 15), (.emit, 12), (.carry, 24), (.damagedCarry, 2), (.rights, 3),
    (.version, 1),
    (.resolve, 2), (.hubResolve, 2), (.clone, 1), (.lostDevice, 1), (.lostDatabase, 1), (.oldCopy, 1), (.backup, 2),
    (.restoreHub, 1), (.compact, 2),
    (.clockJump, 1), (.hubClock, 1),
  ]

  /// The additional events of a season in which histories part.
  private static let partings: [(Kind, Int)] = [
    (.count, 6), (.copyHub, 2), (.putBackHub, 3), (.secondHub, 4), (.stolenKey, 2), (.brokenDatabase, 4),
    (.falseHistory, 4),
    (.given, 3), (.unseenWrite, 4), (.newHub, 1),
  ]

  /// Whether histories part in a season: hubs are put back and copied, keys are stolen, databases are broken. That is
  /// every third season.
  static func parts(_ seed: UInt64) -> Bool { seed % 3 == 0 }

  /// Whether folders of devices are put back in a season. That is another third of the seasons.
  static func putsBack(_ seed: UInt64) -> Bool { seed % 3 == 1 }

  private static func all(_ shares: [(Kind, Int)]) -> [Kind] { shares.flatMap { Array(repeating: $0.0, count: $0.1) } }

  /// A season's events.
  static func season(_ seed: UInt64, devices: Int, length: Int) -> [SeasonEvent] {
    var random = SplitMix64(seed: seed)
    // In half of the seasons, no fault happens.
    let breaks = random.once(in: 2)
    let (all, partings) = (all(shares), all(partings))
    var parting = SplitMix64(seed: seed ^ 0x7061_7274)
    return (0..<length).map { _ in
      let usual = random.one(of: all)
      var kind = parts(seed) && parting.once(in: 4) ? parting.one(of: partings) : usual
      if putsBack(seed), parting.once(in: 6) { kind = parting.one(of: [.restoredFolder, .restoredFolder, .lateStick]) }
      let device = random.below(devices)
      let fails = random.once(in: 3)
      let fault = random.one(of: Fault.Kind.allCases)
      return SeasonEvent(
        kind: kind, device: device, seed: random.next(), fault: breaks && fails && kind.canFail ? fault : nil,
        progress: random.below(1000))
    }
  }
}
