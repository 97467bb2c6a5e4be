import Foundation
import SatchelJSON
import TestSupport

/// The names that a reader finds in a bundle. They are entries, critical features, members of the manifest and of
/// lines, kinds of lines, and kinds of conflicts.
enum BundleNames {
  /// The names in a bundle that release 0.1 did not write. Names that docs/FORMAT.md lets its readers ignore are left
  /// out.
  static func new(in bundle: String) throws -> Set<String> {
    try all(in: [bundle]).subtracting(firstRelease.get()).subtracting(ignored)
  }

  /// New members that readers of another release can ignore without loss.
  private static let ignored: Set<String> = Set(
    [
      "understands", "base", "former_exports", "received_digest", "received_signature", "brings", "original", "renamed",
      "health", "backed_up", "follows", "former", "collected", "known",
    ].map { "manifest.json \($0)" } + ["first", "more", "others"].map { "changes.jsonl \($0)" })

  /// The names in the bundles that release 0.1 made: in its workspaces, and in the golden bundles of that time.
  private static let firstRelease = Result {
    let folder = try TemporaryFolder()
    let archive = PackageFolder.file("Tests/Workspaces/release-0.1.tar.zst").path
    try StockTool.bash("-euc", "zstd -dc '\(archive)' | tar -x", in: folder.path)
    let made = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".satchel") }
    return try all(
      in: made.map { folder($0) } + golden.map { PackageFolder.file("bundles/format-1-\($0).satchel").path })
  }

  private static let golden = [
    "enrolment", "changes", "changes-conflicts", "changes-keys", "changes-new-keys", "changes-attachments",
    "changes-versions", "scope-full", "scope-full-keys", "scope-full-migrations", "scope-full-new-keys",
    "scope-full-attachments", "scope-delta", "scope-delta-keys", "scope-delta-migrations", "scope-delta-attachments",
    "scope-delta-versions",
  ]

  private static func all(in bundles: [String]) throws -> Set<String> {
    let folder = try TemporaryFolder()
    let unpack = #"n=0; for bundle in "$@"; do n=$((n + 1)); mkdir $n; zstd -dc "$bundle" | tar -x -C $n; done"#
    try StockTool.bash(["-euc", unpack, "unpack"] + bundles, in: folder.path)
    return try (1...bundles.count).reduce(into: []) { $0.formUnion(try names(below: folder("\($1)"))) }
  }

  private static func names(below folder: String) throws -> Set<String> {
    var names: Set<String> = []
    for entry in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      if entry.hasPrefix("blobs/") { continue }
      names.insert("entry \(entry)")
      let content = FileManager.default.contents(atPath: "\(folder)/\(entry)") ?? Data()
      if entry == "manifest.json" {
        let manifest = try JSONValue.parse(Array(content))
        names.formUnion((manifest.objectValue ?? []).map { "\(entry) \($0.name)" })
        names.formUnion((manifest["critical"]?.arrayValue ?? []).map { "critical \($0.stringValue ?? "")" })
      } else if entry.hasSuffix(".jsonl") {
        for line in content.split(separator: UInt8(ascii: "\n")) {
          for member in try JSONValue.parse(Array(line)).objectValue ?? [] {
            names.insert("\(entry) \(member.name)")
            if ["op", "kind"].contains(member.name), let word = member.value.stringValue {
              names.insert("\(entry) \(member.name) \(word)")
            }
          }
        }
      }
    }
    return names
  }
}
