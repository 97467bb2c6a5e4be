import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

@Suite("A device's health in a manifest")
struct HealthTests {
  typealias Health = Manifest.Changes.Health

  private static let doctors: [Health.Doctor?] =
    [nil] + Health.Doctor.Result.allCases.map { .init(at: "2026-01-31T08:05:09Z", result: $0) }

  @Test("it is read as it was written, with each result of the doctor and without one", arguments: doctors)
  func roundTrip(doctor: Health.Doctor?) throws {
    let folder = try TemporaryFolder()
    let platform = Platform.still()
    var changes = Manifest.Changes(
      epoch: platform.random.identifier(), incarnation: platform.random.identifier(), received: EmissionNumber(7),
      sequence: SequenceNumber(9), chain: [])
    changes.health = Health(
      satchel: "10.20.3", free: 0, database: 9_007_199_254_740_991, quarantined: 1, doctor: doctor)
    let manifest = Manifest(
      bundle: platform.random.identifier(), dataset: "d", version: 3,
      from: .init(id: platform.random.identifier(), name: "tablet"),
      to: .init(id: platform.random.identifier(), name: "hub"), user: "ann", created: "2026-01-31T08:05:09Z",
      stamp: .zero, body: .changes(changes))
    var draft = try BundleDraft(in: folder.path, platform: platform)
    let path = try draft.write(draft.seal(manifest, with: .testKey()))
    let bundle = try BundleReader(platform: platform).read(
      path, trust: .keys([SigningKey.testKey().publicKey]), staging: folder.folder("staging"))
    guard case .changes(let read) = bundle.manifest.body else {
      Issue.record("the bundle has another kind")
      return
    }
    #expect(read.health == changes.health)
  }

  private static func health(_ name: String, _ value: String?) -> String {
    var members = [
      "satchel": #""0.1.0""#, "free": "1", "database": "2", "quarantined": "3",
      "doctor": #"{"at":"2026-01-31T08:05:09Z","result":"well"}"#,
    ]
    members[name] = value
    return "{\(members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
  }

  @Test("a manifest with a wrong value in it is refused")
  func wrong() throws {
    let (room, good) = (try ReadingRoom(), HandMade())
    #expect(try room.reason(good.setting("health", Self.health("more", "{}"))) == nil)
    #expect(try room.reason(good.setting("health", Self.health("doctor", nil))) == nil)
    for json in ["null", "[]", "1", #""well""#] {
      #expect(try room.reason(good.setting("health", json)) == "bad-manifest", "\(json)")
    }
    for member in ["satchel", "free", "database", "quarantined"] {
      #expect(try room.reason(good.setting("health", Self.health(member, nil))) == "bad-manifest", "\(member)")
    }
    let long = String(repeating: "1", count: 33)
    for text in ["", ".", "1.", "1..2", "v1", "1.0-beta", "1\\u001b[2J", long] {
      let json = Self.health("satchel", "\"\(text)\"")
      #expect(try room.reason(good.setting("health", json)) == "bad-manifest", "\(text)")
    }
    for member in ["free", "database", "quarantined"] {
      for number in ["-1", "1.5", "9007199254740992", #""1""#, "null"] {
        let json = Self.health(member, number)
        #expect(try room.reason(good.setting("health", json)) == "bad-manifest", "\(member) \(number)")
      }
    }
    for doctor in [
      "null", "{}", #"{"at":"2026-01-31T08:05:09Z"}"#, #"{"at":"2026-01-31T08:05:09Z","result":"ill"}"#,
      #"{"at":"yesterday","result":"well"}"#,
    ] {
      #expect(try room.reason(good.setting("health", Self.health("doctor", doctor))) == "bad-manifest", "\(doctor)")
    }
  }
}
