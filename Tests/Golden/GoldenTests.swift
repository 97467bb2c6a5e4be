import Foundation
import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import TestSupport
import Testing

private let bundles = PackageFolder.file("bundles")

/// The names of all golden bundles, without the file name extension.
private let golden: [String] = {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: bundles.path)) ?? []
  return names.filter { $0.hasSuffix(".satchel") }.map { String($0.dropLast(8)) }.sorted()
}()

private func text(_ name: String) throws -> String {
  try String(contentsOf: bundles.appending(path: "\(name).txt"), encoding: .utf8)
}

/// The public keys in `keys/`, with the paths of their files.
private func keys() throws -> [(path: String, key: PublicKey)] {
  let folder = PackageFolder.file("keys")
  let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".pub") }.sorted()
  return try files.map { name in
    let file = folder.appending(path: name)
    return (file.path, try PublicKey(fileBytes: [UInt8](Data(contentsOf: file))))
  }
}

/// The age identities in `keys/`. They are published, because the tests need them.
private func identities() throws -> [(path: String, identities: [AgeIdentity])] {
  let folder = PackageFolder.file("keys")
  let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".identity") }
    .sorted()
  return try files.map { name in
    let file = folder.appending(path: name)
    return (file.path, try AgeIdentity.identities(fileBytes: [UInt8](Data(contentsOf: file))))
  }
}

/// Runs a script of the other reader, which is in Python, over all golden bundles.
private func interop(_ script: String, _ words: String...) throws -> String {
  let folder = try TemporaryFolder()
  let path = PackageFolder.file("Tests/Interop/\(script).py").path
  let paths = golden.map { bundles.appending(path: "\($0).satchel").path }
  return try StockTool.python3(
    [path] + identities().flatMap { ["-i", $0.path] } + words + paths, in: folder.path
  ).text
}

@Test("there are golden bundles of each kind of format 1")
func present() {
  for kind in [
    "changes", "changes-conflicts", "changes-keys", "enrolment", "scope-delta", "scope-delta-keys", "scope-full",
    "scope-full-keys", "scope-delta-migrations", "scope-full-migrations", "changes-encrypted", "scope-full-encrypted",
    "changes-new-keys", "scope-full-new-keys", "volume-1", "volume-2", "backup", "changes-attachments",
    "scope-full-attachments", "scope-delta-attachments", "changes-versions", "scope-delta-versions", "changes-state",
    "scope-delta-unseen", "scope-full-names", "changes-names", "scope-delta-names", "changes-units",
    "scope-delta-units", "changes-proved-key", "scope-delta-proved-key", "enrolment-proved",
    "scope-full-former", "changes-brings", "scope-delta-compare", "changes-answers", "changes-renamed",
    "changes-original", "changes-parity", "changes-parity-1", "changes-parity-2", "changes-parity-p1", "changes-health",
    "scope-full-known", "changes-former-exports", "changes-former", "scope-delta-backed-up", "scope-delta-others",
    "scope-full-others",
    "scope-full-unseen", "changes-unseen", "scope-delta-unseen-decided", "scope-delta-conflicts",
  ] {
    #expect(golden.contains("format-1-\(kind)"))
  }
}

@Test("all golden bundles can be made again, with other keys")
func maker() throws {
  let folder = try TemporaryFolder()
  try makeGolden(into: folder.path)
  let made = try FileManager.default.contentsOfDirectory(atPath: folder("bundles")).filter { $0.hasSuffix(".satchel") }
  #expect(Set(made) == Set(golden.map { "\($0).satchel" }))
}

@Test("every bundle that was ever written is read as on its first day", arguments: golden)
func readable(name: String) throws {
  let folder = try TemporaryFolder()
  let path = bundles.appending(path: "\(name).satchel").path
  let bundle = try BundleReader(platform: .still(), identities: { try identities().flatMap(\.identities) }).read(
    path, trust: .keys(keys().map(\.key)), staging: folder.path)
  let read = try canonicalText(of: bundle)
  #expect(try read == text(name))
}

@Test("a reader that was written from the format's description gives the same text", arguments: golden)
func otherReader(name: String) throws {
  let folder = try TemporaryFolder()
  let reader = PackageFolder.file("Tests/Interop/reader.py").path
  let path = bundles.appending(path: "\(name).satchel").path
  let signer = try text(name).split(separator: "\n").first { $0.hasPrefix("signer: ") }?.dropFirst(8)
  let key = try #require(try keys().first { $0.key.line == signer ?? "" })
  let said = try StockTool.python3(
    [reader, "-k", key.path] + identities().flatMap { ["-i", $0.path] } + [path], in: folder.path)
  #expect(try said.text == text(name))
}

@Test("the golden volumes make one bundle, for our reader and for the other")
func volumes() throws {
  let reader = PackageFolder.file("Tests/Interop/reader.py").path
  let parts = golden.filter { $0.contains("-volume-") }.map { bundles.appending(path: "\($0).satchel").path }
  let folder = try TemporaryFolder()
  let said = try StockTool.python3(
    [reader] + identities().flatMap { ["-i", $0.path] } + parts.reversed(), in: folder.path)
  #expect(try said.text == text("format-1-changes-encrypted"))
}

@Test("a parity volume replaces any golden volume, for the other reader", arguments: ["1", "2"])
func parity(lost: String) throws {
  let reader = PackageFolder.file("Tests/Interop/reader.py").path
  let names = ["1", "2", "p1"].filter { $0 != lost }.map { "format-1-changes-parity-\($0)" }
  let folder = try TemporaryFolder()
  let said = try StockTool.python3(
    [reader] + names.map { bundles.appending(path: "\($0).satchel").path }, in: folder.path)
  #expect(try said.text == text("format-1-changes-parity"))
}

@Test("all documents of the golden bundles are as the JSON Schemas say, and spoilt ones are not")
func schemas() throws {
  let said = try interop("validate", "--self-test", PackageFolder.file("docs/schema").path)
  #expect(said.contains(" documents are valid, ") && said.hasSuffix(" spoilt ones are refused\n"))
}

@Test("a reader that drops any member of the format gives another text of some golden bundle")
func members() throws {
  let said = try interop("members", PackageFolder.file("docs/FORMAT.md").path)
  #expect(said.hasSuffix(" members are in the text\n"), "\(said)")
}

@Test("the digests in the golden bundles are those that the format's description says")
func digests() throws {
  let said = try interop("digests")
  for what in ["conflicts", "rows", "tables"] { #expect(said.contains(" \(what)"), "\(said)") }
}

@Test("no secret key lies in keys/, but for what opens the golden bundles that are encrypted")
func noSecrets() throws {
  for name in try FileManager.default.contentsOfDirectory(atPath: PackageFolder.file("keys").path) {
    #expect(name.hasSuffix(".pub") || name == "README.md" || name == "format-1-sled.identity", "\(name)")
  }
}

@Test("the lines that the format's description shows are of the format")
func examples() throws {
  let check = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import reader
    shown = 0
    # Those that the page shows are of different bundles: only what a line says of itself is looked at.
    reader.check_change = lambda *_: None
    manifests = {"changes": {"kind": "changes", "stamp": "7" * 16}, "scope": {"kind": "scope"}}
    for manifest in manifests.values():
        manifest |= {"from": {"id": "6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"}, "to": {"id": "6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"}}
    for line in open(sys.argv[2], encoding="utf-8"):
        for start, show in [('{"table"', reader.show_change), ('{"conflict"', reader.show_conflict)]:
            if line.startswith(start):
                show = reader.show_resolution if '"decision"' in line and '"state"' not in line else show
                document = reader.parse(line.encode("utf-8"))
                is_hubs = document.get("op") in ("row", "gone", "rekey", "block")
                show(document, manifests["scope" if is_hubs else "changes"])
                shown += 1
    print(shown)
    """
  let folder = try TemporaryFolder()
  let interop = PackageFolder.file("Tests/Interop").path
  #expect(
    try StockTool.python3("-c", check, interop, PackageFolder.file("docs/FORMAT.md").path, in: folder.path).lines == [
      "10"
    ])
}
