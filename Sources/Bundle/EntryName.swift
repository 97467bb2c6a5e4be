/// The entries that a bundle may have, in the order in which they stand.
public enum EntryName: String, Sendable, CaseIterable, Comparable {
  case signature = "B2SUMS.minisig"
  case sums = "B2SUMS"
  case manifest = "manifest.json"
  case changes = "changes.jsonl"
  case resolutions = "resolutions.jsonl"
  case conflicts = "conflicts.jsonl"
  case dataset = "dataset.json"
  case snapshot = "snapshot.sqlite"

  public static func < (a: EntryName, b: EntryName) -> Bool { a.place < b.place }

  private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
