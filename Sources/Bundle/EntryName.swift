import SatchelCrypto
import SatchelValues

/// The entries that a bundle may have, in their order in the file.
public enum EntryName: Hashable, Sendable, Comparable {
  case signature, sums, manifest, changes, resolutions, conflicts, dataset, migrations, snapshot, part, files,
    attachments, state
  /// The content of an attachment. The name contains the beginning of its digest.
  case blob(BlobName)

  /// The entries with fixed names.
  static let fixed: [(name: EntryName, text: String)] = [
    (.signature, "B2SUMS.minisig"), (.sums, "B2SUMS"), (.manifest, "manifest.json"), (.changes, "changes.jsonl"),
    (.resolutions, "resolutions.jsonl"), (.conflicts, "conflicts.jsonl"), (.dataset, "dataset.json"),
    (.migrations, "migrations.jsonl"), (.snapshot, "snapshot.sqlite"), (.part, "part"), (.files, "files.sqlite"),
    (.attachments, "attachments.jsonl"), (.state, "state.json"),
  ]
  private static let blobs = "blobs/"

  public var rawValue: String {
    if case .blob(let blob) = self { return Self.blobs + blob.digits }
    return Self.fixed[place].text
  }

  /// nil if the format has no entry of this name.
  public init?(rawValue: String) { self.init(bytes: rawValue.utf8) }

  /// The entry with this name; nil if the format has no such entry.
  init?(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    if let known = Self.fixed.first(where: { $0.text.utf8.elementsEqual(bytes) }) {
      self = known.name
    } else if bytes.starts(with: Self.blobs.utf8),
      let blob = BlobName(digits: String(decoding: bytes.dropFirst(Self.blobs.utf8.count), as: UTF8.self))
    {
      self = .blob(blob)
    } else {
      return nil
    }
  }

  public var isBlob: Bool {
    if case .blob = self { return true }
    return false
  }

  /// The name of the entry's file in the folder of a draft or of a reader.
  var fileName: String {
    if case .blob(let blob) = self { return "blob-\(blob.digits)" }
    return rawValue
  }

  public static func < (a: EntryName, b: EntryName) -> Bool {
    if case .blob(let first) = a, case .blob(let second) = b { return first < second }
    return a.place < b.place
  }

  private var place: Int { Self.fixed.firstIndex { $0.name == self } ?? Self.fixed.count }
}

/// The name of an attachment's content in a bundle: the first half of its digest. A tar header has no room for the
/// whole digest, which is in B2SUMS.
public struct BlobName: Hashable, Comparable, Sendable {
  let digits: String

  init(of digest: Digest) { digits = String(digest.hexadecimal.prefix(Digest.size)) }

  init?(digits: String) {
    guard let bytes = Hexadecimal.bytes(of: digits), bytes.count == Digest.size / 2 else { return nil }
    self.digits = digits
  }

  public static func < (a: BlobName, b: BlobName) -> Bool { a.digits < b.digits }
}
