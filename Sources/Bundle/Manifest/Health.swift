import SatchelJSON
import SatchelPlatform

extension Manifest.Changes {
  /// A device's statement about its own state. It informs people at the hub; the hub decides nothing by it.
  public struct Health: Hashable, Sendable {
    /// The last run of `doctor` on the device.
    public struct Doctor: Hashable, Sendable {
      public enum Result: String, Sendable, CaseIterable {
        /// The doctor found no fault.
        case well
        /// The doctor found faults and repaired all of them.
        case repaired
        /// Faults are left.
        case faults
      }

      /// The time of the run by the device's clock, for example `2026-01-31T08:05:09Z`.
      public let at: String
      public let result: Result

      public init(at: String, result: Result) { (self.at, self.result) = (at, result) }
    }

    /// The version of Satchel on the device, for example `0.1.0`.
    public let satchel: String
    /// The free bytes of the disk with the device's database.
    public let free: Int64
    /// The size of the device's database, in bytes.
    public let database: Int64
    /// The number of refused files in the device's quarantine.
    public let quarantined: Int64
    /// nil if `doctor` never ran on the device.
    public let doctor: Doctor?

    public init(satchel: String, free: Int64, database: Int64, quarantined: Int64, doctor: Doctor?) {
      self.satchel = satchel
      self.free = free
      self.database = database
      self.quarantined = quarantined
      self.doctor = doctor
    }

    /// The most characters of a version.
    public static let longestVersion = 32
  }
}

// MARK: JSON

extension Manifest.Changes {
  var healthMembers: [JSONValue.Member] { health.map { [.init(name: "health", value: $0.json)] } ?? [] }
}

extension Manifest.Changes.Health {
  fileprivate var json: JSONValue {
    .object(
      [
        .init(name: "satchel", value: .string(satchel)), .init(name: "free", value: .integer(free)),
        .init(name: "database", value: .integer(database)), .init(name: "quarantined", value: .integer(quarantined)),
      ] + (doctor.map { [.init(name: "doctor", value: $0.json)] } ?? []))
  }

  /// Whether a text consists of numbers with points between them, for example `0.1.0`.
  fileprivate static func isVersion(_ text: String) -> Bool {
    text.utf8.count <= longestVersion
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }
}

extension Manifest.Changes.Health.Doctor {
  fileprivate var json: JSONValue { ["at": .string(at), "result": .string(result.rawValue)] }
}

extension ManifestFields {
  /// The member `health`; nil if an earlier release made the bundle, without this member.
  func health() throws(BundleError) -> Manifest.Changes.Health? {
    guard let value = object["health"] else { return nil }
    let fields = ManifestFields(value)
    let satchel = try fields.string("satchel")
    guard Manifest.Changes.Health.isVersion(satchel) else { throw .manifest("satchel is not a version") }
    return .init(
      satchel: satchel, free: try fields.natural("free"), database: try fields.natural("database"),
      quarantined: try fields.natural("quarantined"), doctor: try fields.doctor())
  }

  private func doctor() throws(BundleError) -> Manifest.Changes.Health.Doctor? {
    guard let value = object["doctor"] else { return nil }
    let fields = ManifestFields(value)
    guard let result = Manifest.Changes.Health.Doctor.Result(rawValue: try fields.string("result")) else {
      throw .manifest("result is no result of a doctor")
    }
    return .init(at: try fields.time("at"), result: result)
  }
}
