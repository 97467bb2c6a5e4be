import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Conflicts as comma-separated values (RFC 4180): a line for each column that disagrees.
enum ConflictCSV {
  private static let names = [
    "conflict", "state", "kind", "device", "user", "table", "key", "column", "before", "hub", "device_value", "stands",
    "changed",
    "noted", "decision", "decided_by", "note",
  ]

  static func text(_ conflicts: [StoredConflict]) -> String {
    CSV.text([names] + conflicts.flatMap(lines))
  }

  private static func lines(_ conflict: StoredConflict) -> [[String]] {
    let record = conflict.record
    func cell(_ name: Name, _ fields: [Field]?) -> String {
      fields?.first { $0.name == name }.map { $0.value.isNull ? "" : Words.value($0.value) } ?? ""
    }
    return record.columns.map { name in
      [
        record.id.text, record.state.rawValue, record.kind.rawValue, record.device.text, record.user, record.table.text,
        Words.key(record.key), name.text, cell(name, record.baseValues), cell(name, record.hubValues),
        cell(name, record.deviceValues),
        (record.winners.first { $0.name == name }?.winner ?? record.rowWinner).rawValue,
        UTCTime.text(milliseconds: record.stamp.milliseconds), UTCTime.text(milliseconds: conflict.noted),
        conflict.decision?.made.rawValue ?? "", conflict.decision?.by ?? "", record.note ?? "",
      ]
    }
  }
}
