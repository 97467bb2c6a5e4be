import SatchelBundle
import SatchelConflicts
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A verified bundle, described for people and programs.
struct BundleView {
  let manifest: Manifest
  let signer: String

  init(_ bundle: borrowing VerifiedBundle) {
    manifest = bundle.manifest
    signer = bundle.signer.fingerprint
  }

  func lines(by clock: any WallClock) -> [(String, String)] {
    var lines = [
      ("Kind", manifest.kind.rawValue), ("Dataset", "\(manifest.dataset), version \(manifest.version)"),
      ("From", "\(manifest.from.name) (\(manifest.from.id))"), ("To", "\(manifest.to.name) (\(manifest.to.id))"),
    ]
    if !manifest.user.isEmpty { lines.append(("User", manifest.user)) }
    switch manifest.body {
    case .changes(let changes):
      lines.append(("Sequence", "\(changes.sequence), made on the hub's bundle \(changes.received)"))
    case .scope(let scope):
      let extent =
        scope.extent == .full ? "everything that the user may see" : "what changed since bundle \(scope.after)"
      lines.append(("Number", "\(scope.number): \(extent)"))
      lines.append(("Acknowledges", "the device's bundles up to \(scope.acknowledged)"))
    case .enrolment: break
    case .backup(let backup): lines.append(("Holds", "the whole hub, after its change \(backup.cursor)"))
    case .volume(let volume):
      let part =
        volume.isParity
        ? "parity \(volume.part - volume.parts) of \(volume.parity)" : "\(volume.part) of \(volume.parts)"
      lines.append(("Part", "\(part) of the \(volume.whole.rawValue) bundle \(volume.number)"))
      if volume.parity > 0 {
        lines.append(("Enough", "any \(volume.parts) of all \(volume.parts + volume.parity) parts"))
      }
    }
    if let recipient = manifest.recipient { lines.append(("Encrypt for", recipient.text)) }
    if let rotation = manifest.rotation { lines.append(("Next key", rotation.key.fingerprint)) }
    if let revoked = manifest.revoked {
      lines.append(("Revoked keys", "list \(revoked.number): \(Words.count(revoked.keys.count, "key"))"))
    }
    lines.append(("Made", clock.localText(ofUTC: manifest.created)))
    lines.append(("Signed by", signer))
    return lines
  }

  func text(by clock: any WallClock) -> TerminalText {
    var table = TextTable(["", ""])
    for line in lines(by: clock) { table.add([line.0, line.1]) }
    return table.text(width: nil)
  }

  var members: KeyValuePairs<String, JSONValue> {
    [
      "kind": .string(manifest.kind.rawValue), "bundle": .string(manifest.bundle.text),
      "dataset": .string(manifest.dataset),
      "version": .integer(manifest.version), "from": .string(manifest.from.name), "to": .string(manifest.to.name),
      "user": .string(manifest.user), "number": .integer(manifest.number), "created": .string(manifest.created),
      "signer": .string(signer), "changes": .integer(manifest.changes), "conflicts": .integer(manifest.conflicts),
      "resolutions": .integer(manifest.resolutions),
    ]
  }
}

/// The changes of a bundle, counted by table and kind, and shown one by one on request.
struct BundleContent {
  private var tables: [Name] = []
  private var counts: [Name: [String: Int]] = [:]
  /// Each row's changes: as a block of lines for people, and as a document for programs.
  private(set) var rows: [TerminalText] = []
  private(set) var rowDocuments: [JSONValue] = []
  private(set) var conflicts: [String] = []
  /// The migrations of the bundle: SQL, each with the dataset version to which it leads.
  private(set) var migrations: [Migration] = []

  init(_ bundle: borrowing VerifiedBundle, withRows: Bool) throws {
    var content = (tables: [Name](), counts: [Name: [String: Int]](), rows: [TerminalText](), documents: [JSONValue]())
    try bundle.eachChange { line in
      let word = Self.word(line)
      if content.counts[line.table] == nil { content.tables.append(line.table) }
      content.counts[line.table, default: [:]][word, default: 0] += 1
      if withRows {
        content.rows.append(Self.difference(line))
        content.documents.append(Self.document(line, word))
      }
    }
    (tables, counts, rows, rowDocuments) = content
    var told: [String] = []
    try bundle.eachConflict {
      told.append("\($0.id.text.prefix(8)) \($0.kind.rawValue) \($0.table) [\(Words.key($0.key))]")
    }
    conflicts = told
    migrations = try bundle.migrations()
  }

  private static func word(_ line: ChangeLine) -> String {
    switch line.content {
    case .insert: "insert"
    case .delete: "delete"
    case .update: "update"
    case .row: "row"
    case .gone: "gone"
    case .rekey: "rekey"
    case .block: "block"
    }
  }

  /// A row as a difference: `+` before a new value, `-` before an old value, and both for a changed value.
  private static func difference(_ line: ChangeLine) -> TerminalText {
    let row = "\(line.table) [\(Words.key(line.key))]"
    func list(_ sign: String, _ fields: [Field]) -> [String] {
      fields.map { "  \(sign) \($0.name): \(Words.value($0.value))" }
    }
    let lines: [String] =
      switch line.content {
      case .insert(let fields): ["+ \(row)"] + list("+", fields)
      case .row(let fields): ["= \(row)"] + list(" ", fields)
      case .delete(let was): ["- \(row)"] + list("-", was)
      case .update(let set, let was): ["~ \(row)"] + zip(was, set).flatMap { list("-", [$0]) + list("+", [$1]) }
      case .gone: ["- \(row)"]
      case .rekey(let to, _): ["~ \(row) is now [\(Words.key(to))]"]
      case .block(let last, _): ["= \(row) to [\(Words.key(last))] are keys for new rows of this device"]
      }
    return lines.map { "\($0)\n" as TerminalText }.joined()
  }

  private static func document(_ line: ChangeLine, _ word: String) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "op", value: .string(word)), .init(name: "table", value: .string(line.table.text)),
      .init(name: "key", value: .key(line.key)),
    ]
    switch line.content {
    case .insert(let fields), .row(let fields): members.append(.init(name: "row", value: .fields(fields)))
    case .delete(let was): members.append(.init(name: "was", value: .fields(was)))
    case .update(let set, let was):
      members += [.init(name: "set", value: .fields(set)), .init(name: "was", value: .fields(was))]
    case .rekey(let to, _), .block(let to, _): members.append(.init(name: "to", value: .key(to)))
    case .gone: break
    }
    return .object(members)
  }

  var text: TerminalText {
    var text: TerminalText = ""
    for migration in migrations {
      text += "\nMigration to version \(migration.version)\n"
      text += migration.sql.split(separator: "\n").map { "  \($0)\n" as TerminalText }.joined()
    }
    if !tables.isEmpty {
      let rare = [("rekey", "NEW KEYS"), ("block", "BLOCKS")].filter { word, _ in
        counts.values.contains { $0[word] != nil }
      }
      var table = TextTable(
        ["TABLE", .right("INSERTS"), .right("UPDATES"), .right("DELETES"), .right("ROWS"), .right("GONE")]
          + rare.map { .right($0.1) })
      for name in tables {
        table.add(
          [name.text]
            + (["insert", "update", "delete", "row", "gone"] + rare.map(\.0)).map {
              counts[name]?[$0].map { String($0) } ?? ""
            })
      }
      text += "\n" + table.text(width: nil)
    }
    if !rows.isEmpty { text += "\n" + rows.joined() }
    if !conflicts.isEmpty { text += "\nConflicts\n" + conflicts.map { "  \($0)\n" as TerminalText }.joined() }
    return text
  }

  var json: JSONValue {
    .object(
      tables.map { name in
        .init(
          name: name.text,
          value: .object(
            (counts[name] ?? [:]).sorted { $0.key < $1.key }.map {
              .init(name: $0.key, value: .integer(Int64($0.value)))
            }))
      })
  }
}
