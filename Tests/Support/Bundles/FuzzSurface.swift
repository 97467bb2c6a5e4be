import Foundation
import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelGeometry
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// A place at which untrusted bytes come in. Everything around the bytes is valid, so that they reach the tested code.
/// For example, the content of a bundle is signed.
public enum FuzzSurface: UInt8, CaseIterable, Sendable {
  /// A bundle's whole file.
  case file
  /// The tar, inside valid compression.
  case tar
  case signature, sums, manifest, changes, conflicts, resolutions, dataset, snapshot
  /// An age file for the identity of this test.
  case age
  /// Keys and fingerprints as people have them in files.
  case keys
  /// Geometries in columns of layers, and as people write them.
  case geometry
}

/// Reads untrusted bytes, and checks that nothing is left behind.
public final class FuzzRoom {
  private let folder: TemporaryFolder
  private let staging: String
  private let reader: BundleReader
  private let identity = AgeIdentity(seed: [UInt8](repeating: 7, count: 32))

  /// The number of accepted inputs (`taken`), and the number of refused inputs (`refused`).
  public private(set) var taken = 0
  public private(set) var refused = 0

  public init() throws {
    folder = try TemporaryFolder()
    staging = try folder.folder("staging")
    let identity = identity
    reader = BundleReader(platform: .still(), identities: { [identity] })
  }

  /// Reads the bytes at `surface`. Throws only errors that must not happen.
  public func read(_ bytes: [UInt8], at surface: FuzzSurface) throws {
    do {
      try take(bytes, at: surface)
      taken += 1
    } catch let error as any ExplainedError {
      if error.message.isEmpty { throw ToolFailure("an error without words: \(error.reason)") }
      refused += 1
    } catch is SQLiteError { refused += 1 } catch is AgeError { refused += 1 } catch is KeyError {
      refused += 1
    } catch is SignatureError { refused += 1 }
    let left = try folder.files.list(staging)
    if !left.isEmpty { throw ToolFailure("left behind: \(left)") }
  }

  private func take(_ bytes: [UInt8], at surface: FuzzSurface) throws {
    switch surface {
    case .file: try readBundle(bytes)
    case .tar: try readBundle(zstd(bytes))
    case .signature:
      var entries = try HandMade().signed()
      entries[0].content = bytes
      try readBundle(zstd(tar(entries)))
    case .sums: try readBundle(zstd(tar(HandMade().signed(sums: bytes))))
    case .manifest: try readBundle(HandMade().changing { $0.rawManifest = bytes }.file())
    case .changes: try readBundle(lines(bytes, "changes"))
    case .conflicts: try readBundle(lines(bytes, "conflicts"))
    case .resolutions: try readBundle(lines(bytes, "resolutions"))
    case .dataset: _ = try DatasetDefinition(json: bytes)
    case .snapshot: try readSnapshot(bytes)
    case .age:
      var opener = AgeOpener(.identities([identity]))
      _ = try opener.open(bytes[...]) + opener.finish()
    case .keys:
      _ = try? PublicKey(fileBytes: bytes)
      _ = try? AgeIdentity.identities(fileBytes: bytes)
      _ = PublicKey.normalisedFingerprint(String(decoding: bytes, as: UTF8.self))
    case .geometry: try readGeometry(bytes)
    }
  }

  /// A geometry that was read must be written in a form that is read as the same geometry.
  private func readGeometry(_ bytes: [UInt8]) throws {
    let short = GeometryBlob(bytes.span)
    let written = try? Geometry(wellKnownText: String(decoding: bytes, as: UTF8.self))
    let found = [StoredGeometry(bytes)?.geometry, Geometry.wellKnownBinary(bytes)?.geometry, written].compactMap(\.self)
    if short == nil, StoredGeometry(bytes) != nil { throw ToolFailure("a geometry without a short answer") }
    for geometry in found {
      _ = geometry.words
      _ = GeometryDifference(from: geometry, to: geometry)
      guard geometry.fault == nil else { continue }
      let text = geometry.wellKnownText
      guard try Geometry(wellKnownText: text) == geometry else { throw ToolFailure("another geometry by \(text)") }
      let blob = geometry.geoPackageBlob(referenceSystem: 4326)
      guard StoredGeometry(blob)?.geometry == geometry else { throw ToolFailure("another geometry by its blob") }
      guard GeometryBlob(blob.span)?.bounds == GeometryBounds(of: geometry) else { throw ToolFailure("other bounds") }
    }
  }

  private func readBundle(_ bytes: [UInt8]) throws {
    try folder.files.replace(folder("f"), mode: 0o600, contents: bytes)
    let bundle = try reader.read(folder("f"), trust: .firstContact, staging: staging)
    try bundle.eachChange { _ in }
    try bundle.eachConflict { _ in }
    try bundle.eachResolution { _ in }
    _ = try bundle.attachments()
    if let source = try bundle.dataset(limit: 1 << 20) { _ = try DatasetDefinition(json: source) }
    _ = try bundle.migrations()
    if let path = bundle.path(of: .snapshot) { try look(at: path) }
  }

  /// A bundle whose one entry has these lines.
  private func lines(_ bytes: [UInt8], _ name: String) throws -> [UInt8] {
    var bundle = HandMade(lines: [])
    let count = bytes.count { $0 == 0x0a }
    bundle.entries = count == 0 && bytes.isEmpty ? [] : [HandMadeEntry("\(name).jsonl", bytes)]
    let counts = ["changes", "resolutions", "conflicts"].map { #""\#($0)":\#($0 == name ? count : 0)"# }
    bundle.set("counts", "{\(counts.joined(separator: ","))}")
    if name == "changes", String(decoding: bytes, as: UTF8.self).contains("\"rekey\"") {
      bundle.set("critical", #"["keys"]"#)
    }
    return try bundle.file()
  }

  private func readSnapshot(_ bytes: [UInt8]) throws {
    try folder.files.replace(folder("snapshot"), mode: 0o600, contents: bytes)
    try look(at: folder("snapshot"))
  }

  private func look(at path: String) throws {
    let database = try Database.untrusted(path: path)
    let names = try database.all("SELECT name FROM sqlite_schema WHERE type = 'table'") { Name($0.text(0)) }
    for name in names {
      _ = try database.tableInfo(name)
      try database.each("SELECT * FROM \(quoted(name)) LIMIT 1000") { _ = $0.values(from: 0, count: $0.columnCount) }
    }
  }

  private static let geometries = [
    "POINT (1 2)", "LINESTRING Z (0 0 1,1 1 1)", "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),EMPTY)",
    "GEOMETRYCOLLECTION M (POINT M (1 2 3),GEOMETRYCOLLECTION M EMPTY)",
    "CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0))",
  ]

  /// A line, a compressed line, a collection and a TinyPoint, as SpatiaLite wrote them.
  private static let spatiaLiteBlobs = [
    """
    0001797f000000000000000000000000000000000000000000000000084000000000000010407c020000000200000000\
    00000000000000000000000000000000000000000008400000000000001040fe
    """,
    """
    00010000000000000000000000000000000000000000000000000000144000000000000014407c42420f000400000000\
    0000000000000000000000000000000000c03f0000803f0000003f0000803f00000000000014400000000000001440fe
    """,
    """
    00010000000000000000000000000000000000000000000000000000f03f00000000000000407c070000000200000069\
    01000000000000000000f03f000000000000004069030000000100000004000000000000000000000000000000000000\
    00000000000000f03f0000000000000000000000000000f03f000000000000f03f000000000000000000000000000000\
    00fe
    """,
    "008100000000010000000000001c400000000000002040fe",
  ]

  /// Valid inputs of each surface: the seeds of mutations and of the fuzzer.
  /// - Parameter bundles: files with golden bundles.
  public func seeds(bundles: [[UInt8]]) throws -> [(surface: FuzzSurface, bytes: [UInt8])] {
    let good = HandMade()
    let entries = try good.signed()
    var seeds: [(FuzzSurface, [UInt8])] = bundles.map { (.file, $0) }
    seeds += try [
      (.tar, tar(entries)), (.signature, entries[0].content), (.sums, entries[1].content), (.manifest, good.manifest),
      (.keys, SigningKey.testKey().publicKey.fileBytes(comment: "seed")), (.keys, Array(identity.text.utf8)),
    ]
    for text in Self.geometries {
      let geometry = try Geometry(wellKnownText: text)
      seeds.append((.geometry, Array(text.utf8)))
      seeds.append((.geometry, geometry.geoPackageBlob(referenceSystem: 4326)))
      seeds.append((.geometry, geometry.wellKnownBinary))
    }
    seeds += Self.spatiaLiteBlobs.map { (.geometry, Hexadecimal.bytes(of: $0) ?? []) }
    var sealer = try AgeSealer(for: [identity.recipient], random: SeededRandom(5).bytes)
    let beginning = sealer.beginning
    let sealed = beginning + sealer.seal(Array("sealed".utf8)) + sealer.finish()
    seeds.append((.age, sealed))
    for bytes in bundles {
      try? folder.files.replace(folder("seed"), mode: 0o600, contents: bytes)
      guard let bundle = try? reader.read(folder("seed"), trust: .firstContact, staging: staging) else { continue }
      for (entry, surface) in [
        (EntryName.changes, FuzzSurface.changes), (.conflicts, .conflicts), (.resolutions, .resolutions),
        (.dataset, .dataset),
        (.snapshot, .snapshot),
      ] {
        if let path = bundle.path(of: entry) { seeds.append((surface, try folder.files.read(path, limit: 1 << 20))) }
      }
    }
    return seeds.map { (surface: $0.0, bytes: $0.1) }
  }
}
