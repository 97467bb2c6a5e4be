import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport

/// Makes bundles with any content that a test gives, signed with a device's own key. The test gives only the wrong
/// parts. All other parts are as the device would write them.
struct Forger {
  private let device: DeviceWorkspace
  private let platform: Platform
  /// Values that are read from the device's database.
  let id: String
  let name: String
  let user: String
  let hubID: String
  let hubName: String
  let epoch: String
  let incarnation: String
  let received: Int64
  private(set) var sequence: Int64

  /// - Parameter sequence: the number of the last export that the hub has merged; nil: the device's last export.
  init(_ device: DeviceWorkspace, _ platform: Platform, sequence: Int64? = nil) throws {
    (self.device, self.platform) = (device, platform)
    let database = try Database(path: device.folder.path("data.sqlite"), mode: .readOnly)
    let known = try database.first(
      "SELECT id, name, user, hub_id, hub_name, epoch, incarnation, received, sequence FROM satchel_device"
    ) { row in ((0...6).map { row.text($0) }, row.integer(7), row.integer(8)) }
    guard let (texts, received, exported) = known else { throw ToolFailure("the device has no data") }
    (id, name, user, hubID) = (texts[0], texts[1], texts[2], texts[3])
    (hubName, epoch, incarnation) = (texts[4], texts[5], texts[6])
    (self.received, self.sequence) = (received, sequence ?? exported)
  }

  /// A forger for the same device, for the time after the hub has merged the export with this number.
  func after(_ sequence: Int64) -> Forger {
    var forger = self
    forger.sequence = sequence
    return forger
  }

  /// The content of a bundle.
  struct Content {
    var changes: [JSONValue] = []
    var resolutions: [JSONValue] = []
    var conflicts: [JSONValue] = []
    var attachments: [JSONValue] = []
    var blobs: [[UInt8]] = []
    var state: JSONValue?
    var snapshot: [UInt8]?
    /// Members of the manifest that replace the device's own members; nil: the member is left out.
    var manifest: [(name: String, value: JSONValue?)] = []
    /// A piece of another bundle. If there is one, the manifest also gets the members of a volume.
    var part: [UInt8]?
    /// Whether the bundle is a request for enrolment instead of an export.
    var isRequest = false

    mutating func set(_ name: String, _ value: JSONValue?) { manifest.append((name, value)) }
  }

  /// - Parameter later: the difference between the bundle's number and the device's last export.
  func bundle(later: Int64 = 1, _ fill: (inout Content) throws -> Void = { _ in }) throws -> [UInt8] {
    try bundle(later: later, key: device.keys.signing(), fill)
  }

  func bundle(
    later: Int64 = 1, key: borrowing SigningKey, _ fill: (inout Content) throws -> Void
  ) throws -> [UInt8] {
    var content = Content()
    try fill(&content)
    var made = HandMade(lines: [])
    made.entries = entries(of: content)
    made.members = manifest(of: content, later: later, key.publicKey).map {
      (name: $0.name, json: String(decoding: $0.value.compactBytes, as: UTF8.self))
    }
    for (name, value) in content.manifest {
      made.set(name, value.map { String(decoding: $0.compactBytes, as: UTF8.self) })
    }
    made.comment = comment(of: made, key.publicKey)
    return zstd(tar(try made.signed(with: key)))
  }

  private func entries(of content: Content) -> [HandMadeEntry] {
    func lines(_ name: String, _ lines: [JSONValue]) -> HandMadeEntry? {
      if lines.isEmpty { return nil }
      var bytes: [UInt8] = []
      for line in lines {
        bytes += line.compactBytes
        bytes.append(0x0a)
      }
      return HandMadeEntry(name, bytes)
    }
    let blobs = content.blobs.map { HandMadeEntry("blobs/\(Digest.of($0).hexadecimal.prefix(64))", $0) }
    if let part = content.part { return [HandMadeEntry("part", part)] }
    return [
      lines("changes.jsonl", content.changes), lines("resolutions.jsonl", content.resolutions),
      lines("conflicts.jsonl", content.conflicts), content.snapshot.map { HandMadeEntry("snapshot.sqlite", $0) },
      lines("attachments.jsonl", content.attachments),
      content.state.map { HandMadeEntry("state.json", $0.compactBytes) },
    ].compactMap(\.self) + blobs.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// A volume of a bundle of this device. By default it is the bundle's only volume.
  /// - Parameters:
  ///   - whole: the bundle's bytes.
  ///   - piece: the bytes that this volume carries; nil: the whole bundle.
  ///   - id: the bundle's id.
  ///   - changed: members of the manifest that replace the correct ones.
  func volume(
    of whole: [UInt8], _ id: JSONValue, number: Int64, piece: [UInt8]? = nil,
    changed: [(name: String, value: JSONValue?)]
  ) throws -> [UInt8] {
    try bundle { content in
      content.part = piece ?? whole
      let exports = ["epoch", "received", "sequence", "chain", "base", "incarnation"]
      content.manifest = exports.map { ($0, nil) }
      let members: [(String, JSONValue)] = [
        ("kind", "volume"), ("of", id), ("whole", "changes"), ("number", .integer(number)), ("part", 1), ("parts", 1),
        ("bytes", .integer(Int64(whole.count))), ("digest", .string(Digest.of(whole).hexadecimal)),
      ]
      content.manifest += members.map { ($0.0, $0.1) } + changed
    }
  }

  /// The manifest as the device would write it. It does not contain the list of entries.
  func manifest(of content: Content, later: Int64 = 1, _ key: PublicKey) -> [JSONValue.Member] {
    let number = sequence + later
    var critical: [JSONValue] = []
    if content.changes.contains(where: { ["rekey", "block"].contains($0["op"]?.stringValue) }) {
      critical.append("keys")
    }
    if (content.changes + content.conflicts).contains(where: { $0["unit"] != nil }) { critical.append("units") }
    if !content.attachments.isEmpty { critical.append("attachments") }
    if content.state != nil { critical.append("state") }
    if content.conflicts.contains(where: { $0["kind"] == "unseen" })
      || content.changes.contains(where: { $0["before"] != nil })
    {
      critical.append("unseen")
    }
    var counts: [JSONValue.Member] = [
      .init(name: "changes", value: .integer(Int64(content.changes.count))),
      .init(name: "resolutions", value: .integer(Int64(content.resolutions.count))),
      .init(name: "conflicts", value: .integer(Int64(content.conflicts.count))),
    ]
    if !content.attachments.isEmpty {
      counts.append(.init(name: "attachments", value: .integer(Int64(content.attachments.count))))
      counts.append(.init(name: "blobs", value: .integer(Int64(content.blobs.count))))
    }
    let common: [(String, JSONValue)] = [
      ("format", 1), ("critical", .array(critical)), ("kind", content.isRequest ? "enrolment" : "changes"),
      ("bundle", .string(BundleID(random: platform.random.bytes(16)).text)), ("dataset", "shop"), ("version", 1),
      ("from", party(id, name)),
      ("to", content.isRequest ? party("00000000-0000-4000-8000-000000000000", "hub") : party(hubID, hubName)),
      ("user", .string(content.isRequest ? "" : user)),
      ("created", .string(UTCTime.text(milliseconds: platform.clock.milliseconds()))), ("stamp", .string(stamp())),
      ("counts", .object(counts)), ("incarnation", .string(incarnation)),
    ]
    let own: [(String, JSONValue)] =
      content.isRequest
      ? [("key", .string(key.line))]
      : [
        ("epoch", .string(epoch)), ("received", .integer(received)), ("sequence", .integer(number)), ("chain", []),
        ("base", .integer(min(sequence, number - 1))),
      ]
    return (common + own).map { .init(name: $0.0, value: $0.1) }
  }

  /// The trusted comment that fits the manifest. So the signature is valid, whatever the bundle contains.
  private func comment(of made: HandMade, _ key: PublicKey) -> String {
    func value(_ name: String) -> JSONValue? {
      made.members.first { $0.name == name }.flatMap { try? JSONValue.parse(Array($0.json.utf8)) }
    }
    func text(_ name: String) -> String { value(name)?.stringValue ?? "" }
    let kind = text("kind")
    let number = kind == "enrolment" ? 0 : value(kind == "volume" ? "part" : "sequence")?.integerValue ?? 0
    return
      "satchel \(kind) \(text("bundle")) dataset=\(text("dataset")) from=\(value("from")?["id"]?.stringValue ?? "") "
      + "to=\(value("to")?["id"]?.stringValue ?? "") number=\(number) key=\(key.line)"
  }

  func party(_ id: String, _ name: String) -> JSONValue { ["id": .string(id), "name": .string(name)] }

  /// A stamp of the present time.
  func stamp(later milliseconds: Int64 = 0) -> String {
    Stamp(milliseconds: platform.clock.milliseconds() + milliseconds).hexadecimal
  }

  // MARK: lines

  /// A line about a conflict of this device's update, with the id that the format requires.
  func conflict(
    _ table: String, _ key: JSONValue, was: JSONValue, now: JSONValue,
    changing change: (inout [JSONValue.Member]) -> Void = { _ in }
  ) throws -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "conflict", value: .string(String(repeating: "0", count: 32))),
      .init(name: "device", value: .string(id)),
      .init(name: "user", value: .string(user)), .init(name: "table", value: .string(table)),
      .init(name: "op", value: "update"), .init(name: "key", value: [key]),
      .init(name: "generation", value: .integer(sequence)),
      .init(name: "stamp", value: .string(stamp())), .init(name: "kind", value: "update/update"),
      .init(name: "state", value: "open"), .init(name: "base_values", value: was),
      .init(name: "hub_values", value: was), .init(name: "device_values", value: now),
      .init(name: "winners", value: [:]), .init(name: "winner", value: "hub"),
    ]
    change(&members)
    if members[0].value == .string(String(repeating: "0", count: 32)) {
      members[0] = .init(name: "conflict", value: .string(try Self.conflictID(of: .object(members))))
    }
    return .object(members)
  }

  /// The id that the format requires for a conflict.
  static func conflictID(of line: JSONValue) throws -> String {
    var parts: [JSONValue] = [line["device"] ?? "", line["table"] ?? ""] + (line["key"]?.arrayValue ?? [])
    let stamp = line["stamp"]?.stringValue.flatMap { Stamp(hexadecimal: $0) } ?? .zero
    let isSmall = stamp.rawValue < 1 << 53
    let number: JSONValue = isSmall ? .integer(stamp.rawValue) : ["integer": .string(String(stamp.rawValue))]
    parts += [line["generation"] ?? 0, number, line["op"] ?? ""]
    for field in (line["device_values"] ?? .null).objectValue ?? [] { parts += [.string(field.name), field.value] }
    return Hexadecimal.text(of: blake2b(JSONValue.array(parts).compactBytes, length: 16))
  }

  func update(_ table: String, _ key: JSONValue, set: JSONValue, was: JSONValue) -> JSONValue {
    [
      "table": .string(table), "op": "update", "key": [key], "generation": .integer(sequence),
      "stamp": .string(stamp()),
      "set": set, "was": was,
    ]
  }

  func insert(_ table: String, _ key: JSONValue, _ row: JSONValue) -> JSONValue {
    [
      "table": .string(table), "op": "insert", "key": [key], "generation": .integer(sequence),
      "stamp": .string(stamp()),
      "row": row,
    ]
  }
}

extension [JSONValue.Member] {
  mutating func set(_ name: String, _ value: JSONValue) {
    if let place = firstIndex(where: { $0.name == name }) {
      self[place] = .init(name: name, value: value)
    } else {
      append(.init(name: name, value: value))
    }
  }
}
