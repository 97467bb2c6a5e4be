import SatchelCrypto
import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

@testable import SatchelBundle

/// Parity volumes are computed from other volumes.
@Suite("Parity volumes replace lost ones")
struct ParityTests {
  let folder: TemporaryFolder
  let platform = Platform.still()

  init() throws { folder = try TemporaryFolder() }

  private var reader: BundleReader { BundleReader(platform: platform) }
  private let trusted = [SigningKey.testKey().publicKey]

  /// Writes a bundle that contains so many random bytes. Returns its path.
  private func bundle(with bytes: Int, _ random: inout SplitMix64) throws -> String {
    var draft = try BundleDraft(in: folder.folder("outbox"), platform: platform)
    try folder.write((0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }, to: "built")
    try draft.addSnapshot(at: folder("built"))
    let manifest = Manifest(
      bundle: platform.random.identifier(), dataset: "d", version: 3,
      from: .init(id: platform.random.identifier(), name: "tablet"),
      to: .init(id: platform.random.identifier(), name: "hub"), user: "ann", created: "2026-01-31T08:05:09Z",
      stamp: Stamp(rawValue: .max),
      body: .changes(
        .init(
          epoch: platform.random.identifier(), incarnation: platform.random.identifier(), received: EmissionNumber(7),
          sequence: SequenceNumber(9), chain: [])))
    let path = folder("whole.satchel")
    try folder.files.rename(draft.write(draft.seal(manifest, with: .testKey())), to: path)
    return path
  }

  /// The data about a volume, and the path of its piece.
  private struct Piece {
    let volume: Manifest.Volume
    let path: String
    let bytes: Int64
  }

  /// Cuts a bundle into volumes. Returns their pieces in the order in which they were made.
  private func pieces(of path: String, size: Int64, _ parity: ParityShare) throws -> [Piece] {
    var pieces: [Piece] = []
    let place = try folder.folder("cut")
    let staging = try folder.folder("staging")
    try VolumeCutter(reader: reader, platform: platform).cut(
      path, size: size, parity: parity, in: place, trust: trusted, key: .testKey(), for: []
    ) { made in
      #expect(try folder.files.size(made.file) <= size)
      pieces.append(try kept(reader.read(made.file, trust: .keys(trusted), staging: staging)))
      return .goOn
    }
    #expect(try folder.files.list(place).isEmpty)
    return pieces
  }

  /// Copies the piece of a volume to a lasting path.
  private func kept(_ bundle: borrowing VerifiedBundle) throws -> Piece {
    guard case .volume(let volume) = bundle.manifest.body, let part = bundle.path(of: .part) else {
      throw BundleError.truncated
    }
    let path = folder("piece-\(volume.part)-\(volume.parity)")
    try folder.files.copy(part, to: path, mode: 0o600)
    return Piece(volume: volume, path: path, bytes: try folder.files.size(path))
  }

  /// Joins these pieces. Returns the bytes of the bundle.
  private func joined(_ pieces: [Piece]) throws -> [UInt8] {
    let volume = try #require(pieces.first).volume
    let sizes = Set(pieces.compactMap { $0.volume.pieceBytes(ofPartWith: $0.bytes) })
    #expect(sizes.count == 1)
    let present = Dictionary(uniqueKeysWithValues: pieces.map { ($0.volume.part, $0.path) })
    let paths = try VolumeRebuilding(of: volume, pieceBytes: #require(sizes.first), files: folder.files)
      .dataPieces(from: present, in: folder.folder("rebuilt"))
    return try (1...volume.parts).flatMap { try folder.files.read(#require(paths[$0]), limit: 1 << 30) }
  }

  @Test("any K of all volumes make the bundle, whatever its size is and whatever is lost", arguments: 1...40)
  func anyVolumes(round: Int) throws {
    var random = SplitMix64(seed: UInt64(round))
    let path = try bundle(with: 20_000 + random.below(60_000), &random)
    let whole = try folder.files.read(path, limit: 1 << 30)
    let share: ParityShare =
      random.once(in: 2) ? .percent(Int64(1 + random.below(100))) : .volumes(Int64(1 + random.below(9)))
    let pieces = try pieces(of: path, size: Int64((17 << 10) + random.below(20_000)), share)
    let parts = try #require(pieces.first).volume.parts
    try #require(Int64(pieces.count) == parts + share.count(for: parts), "\(round)")
    #expect(pieces.map(\.volume.part) == Array(1...Int64(pieces.count)))
    for _ in 1...4 {
      let kept = Array(pieces.shuffled(using: &random).prefix(Int(parts)))
      #expect(try joined(kept) == whole, "\(round): \(kept.map(\.volume.part)) of \(parts) and \(share)")
    }
    // With one piece less, the bundle cannot be joined.
    if parts > 1 { #expect(throws: BundleError.self) { try joined(Array(pieces.suffix(Int(parts) - 1))) } }
  }

  @Test("parity volumes of two cuts with different shares may be mixed")
  func twoShares() throws {
    var random = SplitMix64(seed: 1)
    let path = try bundle(with: 50_000, &random)
    let whole = try folder.files.read(path, limit: 1 << 30)
    let few = try pieces(of: path, size: 20 << 10, .volumes(2))
    let many = try pieces(of: path, size: 20 << 10, .volumes(30))
    let parts = Int(few[0].volume.parts)
    #expect(try joined(Array(few.suffix(2) + many.dropFirst(parts + 2).prefix(parts - 2))) == whole)
  }

  @Test("parity pieces that do not fit their volumes make no bundle")
  func wrongPiece() throws {
    var random = SplitMix64(seed: 2)
    let path = try bundle(with: 50_000, &random)
    let pieces = try pieces(of: path, size: 20 << 10, .volumes(1))
    let last = try #require(pieces.last)
    var bytes = try folder.files.read(last.path, limit: 1 << 30)
    bytes[0] ^= 1
    try folder.files.replace(last.path, mode: 0o600, contents: bytes)
    #expect(Digest.of(try joined(Array(pieces.dropFirst()))) != last.volume.digest)
  }

  /// Produces zeros without an end.
  private final class Zeros: ByteSource {
    func read(into buffer: inout [UInt8]) throws -> Int { buffer.count }
  }

  @Test(
    "a volume whose numbers are impossible is neither written nor read",
    arguments: [
      // Each case: part, parts, parity, whether `critical` names parity, and whether these values are possible.
      (1, 2, 0, false, true), (1, 2, 1, false, true), (3, 2, 1, true, true), (256, 2, 254, true, true),
      (3, 2, 0, true, false), (3, 2, 0, false, false), (3, 2, 1, false, false), (1, 2, 1, true, false),
      (4, 2, 1, true, false), (257, 2, 255, true, false), (1, 256, 1, false, false), (1, 2, 1 << 52, false, false),
      (1 << 52, 2, 1 << 52, true, false),
    ] as [(Int64, Int64, Int64, Bool, Bool)])
  func impossible(_ numbers: (part: Int64, parts: Int64, parity: Int64, critical: Bool, possible: Bool)) throws {
    var draft = try BundleDraft(in: folder.folder("outbox"), platform: platform)
    try draft.addPart(1_000, of: Zeros())
    if numbers.critical { draft.require([.parity]) }
    let volume = Manifest.Volume(
      of: platform.random.identifier(), whole: .changes, number: 1, part: numbers.part, parts: numbers.parts,
      bytes: numbers.parts * 1_000, digest: Digest.of([]), parity: numbers.parity)
    let manifest = Manifest(
      bundle: platform.random.identifier(), dataset: "d", version: 3,
      from: .init(id: platform.random.identifier(), name: "tablet"),
      to: .init(id: platform.random.identifier(), name: "hub"), user: "ann", created: "2026-01-31T08:05:09Z",
      stamp: Stamp(rawValue: .max), body: .volume(volume))
    // The writer must refuse the same values as the reader.
    let isWritten = (try? draft.seal(manifest, with: .testKey())) != nil
    #expect(isWritten == numbers.possible, "\(numbers)")
  }

  @Test("the bytes that the format's description shows are those of the code")
  func example() throws {
    var tables = ReedSolomon(count: 2).parity(2..<3)
    var stripe: [UInt8] = [1, 2, 3, 4]
    var result: [UInt8] = [0, 0]
    tables.compute(&stripe, bytes: 2, into: &result)
    #expect(result == [0x8f, 0xf6])
    #expect(ReedSolomon(count: 2).rebuilding([0], from: [1]) == nil)
    #expect(ReedSolomon(count: 2).rebuilding([0], from: [1, 1]) == nil)
    #expect(ReedSolomon(count: 2).rebuilding([0], from: [1, 256]) == nil)
  }

  @Test("more volumes than the code has rows are refused before any is made, with a size that is large enough")
  func tooMany() throws {
    var random = SplitMix64(seed: 3)
    let path = try bundle(with: 600_000, &random)
    for share in [ParityShare.percent(50), .volumes(200), .percent(999)] {
      var least: Int64 = 0
      do { _ = try pieces(of: path, size: 17 << 10, share) } catch BundleError.tooManyVolumes(_, let most, let size) {
        #expect(most == Manifest.Volume.mostWithParity)
        least = size
      }
      #expect(try pieces(of: path, size: least, share).count <= 256, "\(share)")
    }
  }
}
