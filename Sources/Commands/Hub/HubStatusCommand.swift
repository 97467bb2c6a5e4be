import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues

extension HubTool {
  static var status: Command {
    Command(
      ["status"], summary: "show who has reported, what waits, and what to do next",
      discussion: "Shows tables, devices with their freshness, conflicts and refused files.",
      examples: [Example("satchel-hub status", "How does it stand?")]
    ) { command, context in
      let status = try open(command, context).status()
      return Answer(text(status, context.platform.clock.milliseconds()), members(status))
    }
  }

  private static func text(_ status: HubStatus, _ now: Int64) -> String {
    var table = TextTable(["", ""])
    table.add(["Hub", "\(status.configuration.name) of the dataset \(status.configuration.dataset), version \(status.version)"])
    table.add(["Fingerprint", status.fingerprint])
    table.add(["Rows", status.tables.map { "\($0.table) \($0.rows)" }.joined(separator: ", ")])
    table.add(["Changes", "\(status.cursor) since the beginning"])
    table.add(["Conflicts", "\(status.openConflicts) open, \(status.heldConflicts) held"])
    if status.quarantined > 0 { table.add(["Quarantine", Words.count(status.quarantined, "refused file")]) }
    for bundle in status.waiting {
      let next = bundle.version > status.version ? "satchel-hub dataset apply brings that" : "the next import or sync takes it"
      table.add(["Waits", "\(bundle.file): it is of version \(bundle.version) of the dataset; \(next)"])
    }
    Volumes.add(status.volumes, to: &table)
    table.add(["Backup", status.backedUp.map { Words.age(of: $0, now: now) } ?? "none yet: satchel-hub backup FILE"])
    if !status.unaware.isEmpty {
      table.add(["Restored", "from a backup; not known to have heard of it: \(status.unaware.joined(separator: ", "))"])
    }
    for damage in status.damage { table.add(["Warning", "\(damage.words): writes may have gone by unseen"]) }
    for device in status.devices.map(\.device) where device.state != .revoked {
      guard let skew = Words.skew(device.skew) else { continue }
      table.add(["Warning", "the clock of \(device.name) was \(skew) when it reported last: set it right there"])
    }
    var text = table.text(width: nil)
    if !status.devices.isEmpty {
      var devices = TextTable(["DEVICE", "USER", "STATE", "HEARD", .right("MERGED"), .right("MADE FOR IT"), .right("IT HAS")])
      for entry in status.devices {
        let device = entry.device
        devices.add([
          device.name, device.user, device.state.rawValue, Words.age(of: device.heard, now: now), "\(device.merged)",
          "\(entry.emitted)",
          "\(device.proved)",
        ])
      }
      text += "\n" + devices.text(width: nil)
    }
    return text + "Next: \(next(status))\n"
  }

  private static func next(_ status: HubStatus) -> String {
    if let hint = status.damage.compactMap(\.hint).first { return hint }
    if !status.damage.isEmpty { return "satchel-hub doctor, which says what went by unseen; then satchel-hub doctor --repair" }
    if status.users == 0 { return "satchel-hub user add NAME" }
    if status.devices.isEmpty { return "satchel-hub device provision NAME --user USER --into DIR" }
    if let flagged = status.devices.first(where: { $0.device.state == .flagged }) {
      return "settle which copy of \(flagged.device.name) keeps the name: satchel-hub device fork \(flagged.device.name)"
    }
    if status.openConflicts > 0 { return "satchel-hub conflicts" }
    return "satchel-hub import what the devices bring, satchel-hub emit --all for the way back."
  }

  private static func members(_ status: HubStatus) -> KeyValuePairs<String, JSONValue> {
    [
      "hub": .string(status.configuration.name), "id": .string(status.configuration.id.text),
      "dataset": .string(status.configuration.dataset), "version": .integer(status.version), "epoch": .string(status.epoch.text),
      "fingerprint": .string(status.fingerprint), "cursor": .integer(status.cursor.rawValue),
      "tables": .tables(status.tables.map { (table: $0.table, count: Int($0.rows)) }), "users": .integer(Int64(status.users)),
      "devices": .array(
        status.devices.map { entry in
          .object((json(entry.device).objectValue ?? []) + [.init(name: "emitted", value: .integer(entry.emitted.rawValue))])
        }), "open_conflicts": .integer(status.openConflicts), "held_conflicts": .integer(status.heldConflicts),
      "quarantined": .integer(Int64(status.quarantined)),
      "waiting": .array(status.waiting.map { ["file": .string($0.file), "version": .integer($0.version)] }),
      "volumes": Volumes.json(status.volumes), "outbox": .strings(status.outbox),
      "backed_up": .time(status.backedUp), "restored_unaware": .strings(status.unaware),
      "missing_triggers": .strings(status.missingTriggers.map(\.text)), "damage": .strings(status.damage.map(\.words)),
    ]
  }
}
