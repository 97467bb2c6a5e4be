import SatchelCrypto
import SatchelJSON
import SatchelValues

/// The entries of a device's bundle.
enum ForgedEntry: String, CaseIterable {
  case manifest = "manifest.json"
  case changes = "changes.jsonl"
  case conflicts = "conflicts.jsonl"
  case resolutions = "resolutions.jsonl"
  case attachments = "attachments.jsonl"
  case state = "state.json"

  /// The file in `docs/schema` that describes the entry; nil: there is none.
  var schema: String? { self == .state ? nil : rawValue.replacing("s.jsonl", with: "").replacing(".json", with: "") }
}

/// Correct content of ann's device, about ann's own work. All values fit the format, except in `state.json`.
extension Forger {
  func samples(of entry: ForgedEntry) throws -> [JSONValue] {
    switch entry {
    case .manifest: []
    case .changes: changes()
    case .conflicts: try conflicts()
    case .resolutions: [resolution(of: String(repeating: "0f", count: 16))]
    case .attachments: Self.attachments
    case .state: [Self.state]
    }
  }

  /// A primary key of visits from the attacker's first range.
  var keyInRange: Int64 { 103 + sequence % 100 }

  private func changes() -> [JSONValue] {
    let note = ForeignValues.note("m\(sequence)", by: "ann")
    var first = insert("notes", .string("m\(sequence)"), note).objectValue ?? []
    first.set("first", .string(stamp()))
    first.set("more", true)
    return [
      .object(first), update("notes", "n1", set: ["body": .string("b\(sequence)")], was: ["body": "mine"]),
      delete("replies", "r1", was: ["id": "r1", "note": "n2", "body": "yes"]),
      insert("tasks", .integer(100 + sequence), ["id": .integer(100 + sequence), "owner": "ann", "words": "x"]),
      [
        "table": "tasks", "op": "rekey", "key": [1], "stamp": "0000000000000000", "to": [.integer(50 + sequence)],
        "number": .integer(received),
      ],
      insert("visits", .integer(keyInRange), ["id": .integer(keyInRange), "owner": "ann"]),
      insert("kinds", .integer(70 + sequence), ["id": .integer(70 + sequence), "owner": "ann", "code": "oak"]),
      inUnit(update("trips", "t1", set: ["words": .string("w\(sequence)")], was: ["words": "there"])),
      inUnit(
        insert(
          "trees", .string("v\(sequence)"), ["uuid": .string("v\(sequence)"), "owner": "ann", "kind": 1])),
      insert("replies", .string("s\(sequence)"), ["id": .string("s\(sequence)"), "note": "n2", "body": "x"]),
    ]
  }

  /// The line as a part of the only unit in its generation.
  private func inUnit(_ line: JSONValue) -> JSONValue {
    var members = line.objectValue ?? []
    members.set("unit", 1)
    return .object(members)
  }

  private func conflicts() throws -> [JSONValue] {
    try [
      conflict("notes", "n1", was: ["body": "a"], now: ["body": "b"]) { $0.set("note", "seen") },
      conflict("notes", "n2", was: ["body": "a"], now: ["body": "b"]) {
        $0.set("state", "resolved")
        $0.set("decision", "device")
        $0.set("decided_by", "ann")
      },
      conflict("tasks", 1, was: ["id": 1, "owner": "ann", "words": "sweep"], now: nil) { $0.set("op", "delete") },
      conflict("replies", "r9", was: nil, now: ["id": "r9", "note": "n2", "body": "x"]) {
        $0.set("op", "insert")
        $0.set("kind", "foreign key")
        $0.set("hub_values", nil)
      },
    ]
  }

  func resolution(of conflict: String, _ decision: String = "hub") -> JSONValue {
    [
      "conflict": .string(conflict), "decision": .string(decision), "user": "ann", "generation": .integer(sequence),
      "stamp": .string(stamp()), "note": "seen",
    ]
  }

  static let photo = Array("a photo".utf8)

  /// A line about the only file that the attacker's bundles carry.
  /// - Parameter was: the digest of the version that the file replaces; nil: the line names no version.
  static func file(at path: JSONValue, was: JSONValue? = nil) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "op", value: "file"), .init(name: "path", value: path),
      .init(name: "digest", value: .string(Digest.of(photo).hexadecimal)),
      .init(name: "bytes", value: .integer(Int64(photo.count))),
    ]
    if let was { members.set("was", was) }
    return .object(members)
  }

  private static let attachments: [JSONValue] = [
    [
      "op": "file", "path": "photos/a.jpg", "digest": .string(Digest.of(photo).hexadecimal),
      "bytes": .integer(Int64(photo.count)), "was": .string(String(repeating: "0f", count: 64)),
    ],
    ["op": "has", "path": "photos/b.jpg", "digest": .string(Digest.of(photo).hexadecimal)],
  ]

  /// The hub refuses this content, because the sum is too short. For content that the hub compares, use `trueTables`.
  private static let state: JSONValue = [
    "tables": [
      [
        "table": "notes", "columns": ["author", "body", "id", "likes", "photo", "pub"], "rows": 1,
        "sums": ["17": .string(String(repeating: "0f", count: 32))],
      ]
    ], "answers": [],
  ]

  static let health: JSONValue = [
    "satchel": "0.1.0", "free": 1_000_000_000, "database": 65536, "quarantined": 0,
    "doctor": ["at": "2026-01-31T08:05:09Z", "result": "well"],
  ]

  /// Members of a manifest that most bundles of a device do not have.
  func rareMembers() -> [JSONValue.Member] {
    let digest = String(repeating: "0f", count: 64)
    return [
      .init(name: "understands", value: ["state"]), .init(name: "lost", value: ["photos/a.jpg"]),
      .init(name: "former_exports", value: 0), .init(name: "former", value: []),
      .init(name: "received_digest", value: .string(digest)), .init(name: "received_signature", value: ""),
      .init(name: "brings", value: [.string(digest)]), .init(name: "original", value: .string(digest)),
      .init(name: "renamed", value: [["table": "notes", "from": "body", "to": "text"]]),
      .init(name: "health", value: Self.health),
      .init(name: "recipient", value: ""), .init(name: "rotation", value: [:]), .init(name: "revoked", value: [:]),
      .init(name: "entries", value: []),
    ]
  }

  func delete(_ table: String, _ key: JSONValue, was: JSONValue) -> JSONValue {
    [
      "table": .string(table), "op": "delete", "key": [key], "generation": .integer(sequence),
      "stamp": .string(stamp()),
      "was": was,
    ]
  }
}

extension Forger.Content {
  /// Adds a line to its entry, or sets the entry's only document.
  mutating func add(_ value: JSONValue, to entry: ForgedEntry) {
    switch entry {
    case .manifest: break
    case .changes: changes.append(value)
    case .conflicts: conflicts.append(value)
    case .resolutions: resolutions.append(value)
    case .attachments:
      attachments.append(value)
      if value["op"] == "file", blobs.isEmpty { blobs.append(Forger.photo) }
    case .state: state = value
    }
  }
}
