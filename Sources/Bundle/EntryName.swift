/// The entries that a bundle may have, in the order in which they stand.
public enum EntryName: String, Sendable, CaseIterable, Comparable {
  case signature = "B2SUMS.minisig"
  case sums = "B2SUMS"
  case manifest = "manifest.json"
  case changes = "changes.jsonl"
  case resolutions = "resolutions.jsonl"
  case conflicts = "conflicts.jsonl"
  case dataset = "dataset.json"
  case migrations = "migrations.jsonl"
  case snapshot = "snapshot.sqlite"
  case part
  case files = "files.sqlite"

  public static func < (a: EntryName, b: EntryName) -> Bool { a.place < b.place }

  /// The entry whose name these bytes are; nil where no entry of this format has it.
  init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard let name = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
    self = name
  }

  private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
