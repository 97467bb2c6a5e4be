import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// The health of a device, in words for people and as JSON.
struct DeviceHealthText {
  let health: DeviceHealth
  let now: Int64

  /// The health as facts: each fact has a name and a value.
  var facts: [StatusSheet.Fact] {
    var facts = StatusSheet.Facts()
    facts.add("Described", age)
    facts.add("Satchel", "version \(health.satchel)")
    facts.add("Free disk", Words.size(health.freeBytes) + (health.isDiskNearlyFull ? ", nearly full" : ""))
    facts.add("Database", Words.size(health.databaseBytes))
    facts.add("Quarantine", Words.count(health.quarantined, "refused file"))
    facts.add("Doctor", doctor)
    return facts.all
  }

  /// The health in one line, for the device's own `status`.
  var line: String {
    let size = "\(Words.size(health.databaseBytes)) of database, \(Words.size(health.freeBytes)) of disk free"
    return "Satchel \(health.satchel), \(size), \(Words.count(health.quarantined, "refused file")); doctor: \(doctor)"
  }

  /// Warnings for the operator, each with the next step.
  func warnings(of device: String) -> [String] {
    var words: [String] = []
    if health.isDiskNearlyFull {
      words.append(
        "the disk of \(device) is nearly full (\(Words.size(health.freeBytes)) free \(age)): make room on that device")
    }
    if health.hasFaults, let doctor = health.doctor {
      words.append(
        """
        the doctor of \(device) found faults \(Words.age(of: doctor.at, now: now)): its user runs satchel doctor, and \
        follows the lines
        """
      )
    }
    return words
  }

  /// Warnings for the user of the device itself.
  var ownWarnings: [String] {
    if !health.isDiskNearlyFull { return [] }
    return [
      "the disk of this device is nearly full (\(Words.size(health.freeBytes)) free): remove what is not needed from it"
    ]
  }

  private var age: String { Words.age(of: health.at, now: now) }

  private var doctor: String {
    guard let doctor = health.doctor else { return "never ran" }
    let words =
      switch doctor.result {
      case .well: "all was well"
      case .repaired: "faults were repaired"
      case .faults: "faults are left"
      }
    return "\(words) \(Words.age(of: doctor.at, now: now))"
  }

  /// The health as JSON. It is null if the device's newest bundle does not describe its health.
  static func json(_ health: DeviceHealth?) -> JSONValue {
    guard let health else { return .null }
    let doctor: JSONValue =
      health.doctor.map { ["at": .time($0.at), "result": .string($0.result.rawValue)] } ?? .null
    return [
      "at": .time(health.at), "satchel": .string(health.satchel), "free_bytes": .integer(health.freeBytes),
      "database_bytes": .integer(health.databaseBytes), "quarantined": .integer(health.quarantined),
      "disk_nearly_full": .bool(health.isDiskNearlyFull), "doctor": doctor,
    ]
  }
}

extension HubStatus.Device {
  /// The health of this device. nil if the device is revoked or expired, because then no person needs to care for it.
  var presentHealth: DeviceHealth? { device.state == .revoked || isExpired ? nil : health }
}
