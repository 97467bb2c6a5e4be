import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A bundle's whole content as text in one fixed form: each value with its storage class and its bytes. If another
/// reader makes the same text, it has read the same content.
public func canonicalText(of bundle: borrowing VerifiedBundle) throws -> String {
  var lines = manifestLines(bundle.manifest) + ["signer: \(bundle.signer.line)"]
  try bundle.eachChange { lines.append(text(of: $0)) }
  try bundle.eachResolution { lines.append(text(of: $0)) }
  try bundle.eachConflict { lines.append(text(of: $0)) }
  if let definition = try bundle.dataset(limit: 1 << 20) {
    lines.append("dataset | \(Hexadecimal.text(of: definition))")
  }
  for migration in try bundle.migrations() { lines.append("migration | \(migration.version) | \(text(migration.sql))") }
  // The databases of a backup are for the hub alone, so only their digests are in the text.
  if case .backup = bundle.manifest.body {
    for name in [EntryName.snapshot, .files] {
      guard let path = bundle.path(of: name) else { continue }
      lines.append("\(name.rawValue) | \(Digest.of(try HostFileSystem().read(path, limit: 1 << 24)).hexadecimal)")
    }
  } else if let path = bundle.path(of: .snapshot) {
    lines += try snapshotLines(path)
  }
  if let path = bundle.path(of: .part) {
    lines.append("part | \(Digest.of(try HostFileSystem().read(path, limit: 1 << 24)).hexadecimal)")
  }
  for line in try bundle.attachments() {
    let op = line.isFile ? "file" : "has"
    let content = try bundle.path(of: line).map { try HostFileSystem().read($0, limit: 1 << 24) }
    let shown = content.map { " | \(Hexadecimal.text(of: $0))" } ?? ""
    let was = line.was.map { " | was \($0.hexadecimal)" } ?? ""
    lines.append("attachment | \(op) | \(text(line.path.text)) | \(line.digest.hexadecimal)\(was)\(shown)")
  }
  if let state = try bundle.state() { lines += stateLines(state) }
  return lines.map { $0 + "\n" }.joined()
}

private func manifestLines(_ manifest: Manifest) -> [String] {
  let common =
    [
      "format: \(Manifest.format)", "kind: \(manifest.kind.rawValue)", "bundle: \(manifest.bundle)",
      "dataset: \(manifest.dataset)",
      "version: \(manifest.version)", "from: \(manifest.from.id) \(manifest.from.name)",
      "to: \(manifest.to.id) \(manifest.to.name)",
      "user: \(text(manifest.user))", "created: \(manifest.created)", "stamp: \(manifest.stamp.hexadecimal)",
      "changes lines: \(manifest.changes)", "resolutions lines: \(manifest.resolutions)",
      "conflicts lines: \(manifest.conflicts)",
    ]
    + (manifest.critical.isEmpty ? [] : ["critical: \(manifest.critical.map(\.rawValue).joined(separator: ", "))"])
    + list("understands", manifest.understands.map(\.rawValue).sorted())
    + (manifest.recipient.map { ["recipient: \($0)"] } ?? [])
    + (manifest.rotation.map { ["rotation: \($0.key.line) \($0.recipient)\($0.proof == nil ? "" : " proved")"] } ?? [])
    + (manifest.revoked.map { ["revoked: \($0.number) [\($0.keys.map(\.line).joined(separator: ", "))]"] } ?? [])
  switch manifest.body {
  case .changes(let changes):
    return common + changesLines(changes)
  case .scope(let scope):
    return common + scopeLines(scope)
  case .enrolment(let enrolment):
    let continued = enrolment.continues.map { continues in
      let chain = continues.chain.map { "\($0.sequence) \($0.digest.hexadecimal)" }.joined(separator: ", ")
      let proof = continues.proof.map { " proved by \($0.keyID)" } ?? ""
      return ["continues: \(continues.device) \(continues.acknowledged) \(continues.received) [\(chain)]\(proof)"]
    }
    return common + ["incarnation: \(enrolment.incarnation)", "key: \(enrolment.key.line)"] + (continued ?? [])
  case .backup(let backup): return common + ["epoch: \(backup.epoch)", "cursor: \(backup.cursor)"]
  case .volume(let volume):
    return common + [
      "of: \(volume.of)", "whole: \(volume.whole.rawValue)", "number: \(volume.number)",
      "part: \(volume.part) of \(volume.parts)",
      "bytes: \(volume.bytes)", "digest: \(volume.digest.hexadecimal)",
    ] + (volume.parity > 0 ? ["parity: \(volume.parity)"] : [])
  }
}

private func changesLines(_ changes: Manifest.Changes) -> [String] {
  let chain = changes.chain.map { "\($0.sequence) \($0.digest.hexadecimal)" }
  let lost = changes.lost.map { text($0.text) }
  let renamed = changes.renamed.map { "\(text($0.table.text)) \(text($0.from.text)) \(text($0.to.text))" }
  var lines = [
    "epoch: \(changes.epoch)", "incarnation: \(changes.incarnation)", "received: \(changes.received)",
    "sequence: \(changes.sequence)", "chain: [\(chain.joined(separator: ", "))]",
  ]
  lines += list("lost", lost) + list("brings", changes.brings.map(\.hexadecimal))
  if let base = changes.base { lines.append("base: \(base)") }
  if let former = changes.formerExports { lines.append("former_exports: \(former)") }
  lines += list("former", changes.former.map { "\($0)" })
  if let proof = changes.proof {
    lines.append("received digest: \(proof.digest.hexadecimal)")
    if let signature = proof.signature {
      lines.append("received signature: \(Hexadecimal.text(of: signature.fileBytes))")
    }
  }
  if let original = changes.original { lines.append("original: \(original.hexadecimal)") }
  lines += list("renamed", renamed)
  if let health = changes.health { lines.append("health: \(text(of: health))") }
  return lines
}

private func text(of health: Manifest.Changes.Health) -> String {
  let doctor = health.doctor.map { " \($0.at) \($0.result.rawValue)" } ?? ""
  return "\(health.satchel) \(health.free) \(health.database) \(health.quarantined)\(doctor)"
}

private func scopeLines(_ scope: Manifest.Scope) -> [String] {
  var lines = [
    "epoch: \(scope.epoch)", "number: \(scope.number)", "after: \(scope.after)", "extent: \(scope.extent.rawValue)",
    "acknowledged: \(scope.acknowledged)",
  ]
  if let digest = scope.acknowledgedDigest { lines.append("acknowledged digest: \(digest.hexadecimal)") }
  if let backedUp = scope.backedUp { lines.append("backed up: \(backedUp)") }
  // An empty list has another meaning than a missing member.
  if let follows = scope.follows {
    lines.append("follows: [\(follows.map { "\($0.number) \($0.digest.hexadecimal)" }.joined(separator: ", "))]")
  }
  if let former = scope.former { lines.append("former: [\(former.map { "\($0)" }.joined(separator: ", "))]") }
  return lines + list("collected", scope.collected.map(\.hexadecimal)) + list("known", scope.known.map(\.hexadecimal))
    + list("compare", scope.compare.map { text($0) })
}

/// A line for a list in the manifest. There is no line if the list is empty, because the manifest then has no such
/// member.
private func list(_ name: String, _ items: [String]) -> [String] {
  items.isEmpty ? [] : ["\(name): [\(items.joined(separator: ", "))]"]
}

private func text(of line: ChangeLine) -> String {
  let (word, parts): (String, [String]) =
    switch line.content {
    case .insert(let row): ("insert", ["row \(text(row))"])
    case .update(let set, let was): ("update", ["set \(text(set))", "was \(text(was))"])
    case .delete(let was): ("delete", ["was \(text(was))"])
    case .row(let row): ("row", ["row \(text(row))"])
    case .gone: ("gone", [])
    case .rekey(let to, let number): ("rekey", ["to \(text(to))", "number \(number)"])
    case .block(let last, let number): ("block", ["to \(text(last))", "number \(number)"])
    }
  let generation = line.generation.map { ["generation \($0)"] } ?? []
  return
    (["change", word, text(line.table.text), text(line.key)] + generation + [line.stamp.hexadecimal] + parts
    + optionalParts(of: line)).joined(separator: " | ")
}

private func optionalParts(of line: ChangeLine) -> [String] {
  let states = line.before.map { $0.map { digits($0) } ?? "none" }
  let writes = line.others?.map { write in
    let stamp = write.stamp.map { " stamp \($0.hexadecimal)" } ?? ""
    return "\(text(write.column.text))\(stamp)\(write.after.map { " after \($0)" } ?? "")"
  }
  return
    (line.first.map { ["first \($0.stamp.hexadecimal)\($0.isOnly ? "" : " more")"] } ?? [])
    + (line.unit.map { ["unit \($0)"] } ?? [])
    + (states.isEmpty ? [] : ["before [\(states.joined(separator: ", "))]"])
    + (writes.map { ["others {\($0.joined(separator: ", "))}"] } ?? [])
}

private func text(of conflict: ConflictRecord) -> String {
  let winners = conflict.winners.map { "\(Hexadecimal.text(of: Array($0.name.text.utf8))): \($0.winner.rawValue)" }
  return
    ([
      "conflict", conflict.id.text, conflict.device.text, text(conflict.user), text(conflict.table.text),
      conflict.operation.rawValue, text(conflict.key), "generation \(conflict.generation)", conflict.stamp.hexadecimal,
      conflict.kind.rawValue, conflict.state.rawValue, "base \(text(orNone: conflict.baseValues))",
      "hub \(text(orNone: conflict.hubValues))",
      "device \(text(orNone: conflict.deviceValues))", "winners {\(winners.joined(separator: ", "))}",
      conflict.rowWinner.rawValue,
    ] + (conflict.decision.map { ["decided \($0.made.rawValue)", text($0.by)] } ?? [])
    + (conflict.note.map { [text($0)] } ?? []) + (conflict.unit.map { ["unit \($0)"] } ?? []))
    .joined(separator: " | ")
}

private func text(of resolution: Resolution) -> String {
  ([
    "resolution", resolution.conflict.text, resolution.decision.rawValue, text(resolution.user),
    "generation \(resolution.generation)", resolution.stamp.hexadecimal,
  ] + (resolution.note.map { [text($0)] } ?? [])).joined(separator: " | ")
}

private func stateLines(_ state: StateEntry) -> [String] {
  let tables = state.tables.map { table in
    let columns = table.columns.map { text($0.text) }.joined(separator: ", ")
    let sums = table.sums.enumerated().filter { $0.element != .zero }.map { "\($0): \($1.hexadecimal)" }
    return "state | \(text(table.name.text)) | [\(columns)] | rows \(table.rows) | {\(sums.joined(separator: ", "))}"
  }
  let answers = state.answers.map { answer in
    let rows = answer.rows.map { "\(text($0.key)): \($0.digest.hexadecimal)" }
    return "answer | \(text(answer.question)) | {\(rows.joined(separator: ", "))}"
  }
  return tables + answers
}

/// The sums of rows that the hub requests, or that a device sends.
private func text(_ question: StateEntry.Question) -> String {
  "\(text(question.table.text)) \(question.sums.map { "\($0)" }.joined(separator: " "))"
}

private func snapshotLines(_ path: String) throws -> [String] {
  let database = try Database.untrusted(path: path)
  let tables = try database.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
    $0.text(0)
  }
  return try tables.sorted { Name($0) < Name($1) }.flatMap { table in
    let columns = try database.all("PRAGMA table_info(\(quoted(table)))") { Name($0.text(1)) }
    return try database.all("SELECT \(quotedList(columns)) FROM \(quoted(table))") { row in
      let fields = zip(columns, row.values(from: 0, count: columns.count)).map { Field($0, $1) }
      return "snapshot | \(text(table)) | \(text(fields))"
    }.sorted { Name($0) < Name($1) }
  }
}

// MARK: values

private func text(orNone fields: [Field]?) -> String { fields.map { text($0) } ?? "none" }

private func text(_ fields: [Field]) -> String {
  "{\(fields.map { "\(Hexadecimal.text(of: Array($0.name.text.utf8))): \(text($0.value))" }.joined(separator: ", "))}"
}

private func text(_ key: RowKey) -> String { "[\(key.values.map { text($0) }.joined(separator: ", "))]" }

private func text(_ string: String) -> String { text(.string(string)) }

private func text(_ value: SatchelValues.Value) -> String {
  switch value {
  case .null: "null"
  case .integer(let number): "integer \(number)"
  case .real(let number): "real \(digits(number.bitPattern))"
  case .text(let bytes): "text \(Hexadecimal.text(of: bytes))"
  case .blob(let bytes): "blob \(Hexadecimal.text(of: bytes))"
  }
}

private func digits(_ bits: UInt64) -> String {
  let text = String(bits, radix: 16)
  return String(repeating: "0", count: 16 - text.count) + text
}
