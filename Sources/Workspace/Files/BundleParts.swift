import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// `bundles/inbox/parts`: the pieces from volumes that came. They stay until all pieces of their bundle are here.
///
/// `BundlePartsLimits` limits the room for pieces. The pieces of a bundle are deleted 90 days after the last of them
/// came.
public struct BundleParts {
  private let folder: WorkspaceFolder
  let platform: Platform

  public init(_ folder: WorkspaceFolder, platform: Platform) {
    self.folder = folder
    self.platform = platform
  }

  var root: String { Paths.join(folder.inbox, "parts") }

  /// The pieces of one bundle that was cut into pieces of one size. Pieces of the same size fit together, even if the
  /// bundle was cut several times. They may come in any order.
  public struct Waiting: Sendable {
    /// The file name of the whole bundle.
    public let whole: String
    public let parts: Int64
    /// The numbers of the missing volumes, without parity volumes.
    public let missing: [Int64]
    /// The numbers of the missing parity volumes, counted from 1. Empty if no volume that came mentions parity volumes.
    public let missingParity: [Int64]
    /// The number of volumes that must still come. Any of the missing volumes count, parity volumes too.
    public let needed: Int64
    /// The folder of the pieces, or the file if the bundle is whole.
    public let path: String
    /// Whether the whole bundle already waits in `bundles/inbox/waiting`, so that no pieces are stored.
    public let isWhole: Bool
    /// The size of each piece except the last.
    let pieceBytes: Int64
    /// The number of pieces that are here.
    private let count: Int64

    /// - Parameters:
    ///   - present: the numbers of the volumes that are here. Parity volumes have numbers above `parts`.
    ///   - parity: the number of parity volumes, as far as it is known.
    init(whole: String, parts: Int64, parity: Int64, present: Set<Int64>, path: String, pieceBytes: Int64) {
      (self.whole, self.parts, self.path, self.pieceBytes) = (whole, parts, path, pieceBytes)
      (isWhole, count) = (false, Int64(present.count))
      missing = (1...parts).filter { !present.contains($0) }
      missingParity = parity == 0 ? [] : (1...parity).filter { !present.contains(parts + $0) }
      needed = max(0, parts - Int64(present.count))
    }

    /// - Parameter path: the file of the whole bundle, in `bundles/inbox/waiting`.
    public init(wholeAt path: String, named whole: String, parts: Int64) {
      (self.whole, self.parts, self.path, isWhole) = (whole, parts, path, true)
      (missing, missingParity, needed, pieceBytes, count) = ([], [], 0, 0, 0)
    }

    /// Whether the pieces that are here are enough to join the bundle.
    public var isComplete: Bool { needed == 0 && !path.isEmpty && !isWhole }

    /// The most bytes that the pieces here can have together, including pieces that are not needed.
    var bytes: Int64 { count * pieceBytes }
  }

  /// Stores the piece of a verified volume, unless enough pieces for the bundle are here already. Throws a `Refusal` if
  /// the pieces of this sender, or of all senders, take too much room.
  public func keep(
    _ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume, within limits: BundlePartsLimits
  ) throws -> Waiting {
    guard let part = bundle.path(of: .part), let size = bundle.entryList.first?.bytes,
      let piece = volume.pieceBytes(ofPartWith: size)
    else { throw BundleError.manifest("it carries no piece") }
    let place = Paths.join(root, Self.name(bundle.manifest, volume, piece: piece))
    try adoptFormer(bundle.manifest.from(bundle.senderName), volume, piece: piece, at: place)
    // A piece is part of a compressed file, so it can hardly be compressed again. If the content of a volume is much
    // larger than its file, it is no such piece.
    let most = BundlePartsLimits.mostBytes(ofPieceIn: try bundle.file.bytes)
    guard size <= most else { throw BundleError.tooLarge("The piece that it carries", limit: most) }
    if try platform.files.kind(place) == .directory {
      let found = try waiting(at: place, named: bundle.manifest.wholeFileName, parts: volume.parts, piece: piece)
      if found.isComplete { return found }
    }
    try makeRoom(for: size, at: place, of: bundle.manifest, within: limits)
    try platform.files.makeDirectory(place, mode: 0o755)
    let fd = try platform.files.open(part)
    defer { platform.files.close(fd) }
    try platform.files.sync(fd)
    try platform.files.rename(part, to: Paths.join(place, String(volume.part)))
    try noteDay(in: place)
    try noteParity(volume.parity, in: place)
    try mark(Self.wholePrefix + volume.of.text, in: place)
    return try waiting(at: place, named: bundle.manifest.wholeFileName, parts: volume.parts, piece: piece)
  }

  /// The result that `keep` would have if no other piece were here. Nothing is written.
  public func rehearse(_ bundle: borrowing VerifiedBundle, _ volume: Manifest.Volume) -> Waiting {
    Waiting(
      whole: bundle.manifest.wholeFileName, parts: volume.parts, parity: volume.parity, present: [volume.part],
      path: "",
      pieceBytes: 0)
  }

  /// Calls `body` with the whole bundle if enough pieces are here. `body` also gets the manifest of the last volume,
  /// or nil if the whole bundle already waits as one file. Returns nil if more volumes must come first, or if
  /// `manifest` is not of a volume.
  /// - Parameters:
  ///   - waiting: the result of `keep` for the volume; nil if the volume was not kept.
  ///   - state: a text that differs if another attempt to import may end differently; nil: the pieces are joined at
  ///     each call.
  public func whole<T>(
    of manifest: Manifest, _ waiting: Waiting?, in state: @autoclosure () throws -> String?,
    _ body: (_ path: String, _ volume: Manifest?) throws -> T
  ) throws -> T? {
    guard let waiting, case .volume(let volume) = manifest.body else { return nil }
    if waiting.isWhole { return try body(waiting.path, nil) }
    if !waiting.isComplete { return nil }
    return try join(waiting, volume, in: state()) { try body($0, manifest) }
  }

  /// Joins the pieces and calls `body` with the whole bundle. Enough pieces must be here; missing pieces are computed
  /// from parity pieces. The pieces are deleted if the bundle was imported, can never be imported, or now waits as a
  /// whole. Otherwise they stay.
  ///
  /// If the same bundle was refused a short time ago, throws that refusal again without joining.
  private func join<T>(
    _ waiting: Waiting, _ volume: Manifest.Volume, in state: String?, _ body: (_ path: String) throws -> T
  ) throws -> T {
    let record = RefusedJoin(of: waiting.path, in: state, platform)
    if let refusal = try record.refusal() { throw refusal }
    let staging = try StagingFolder(in: folder.inbox, platform: platform)
    let path = staging.file(waiting.whole)
    do {
      try write(waiting, volume, to: path, in: staging.path)
      let result = try body(path)
      try platform.files.removeTree(waiting.path)
      return result
    } catch {
      let refusal = error as? Refusal
      let isForEver = error is BundleError || error is Quarantine.RefusedEarlier
      if isForEver || refusal?.keeping == .quarantine || refusal?.keeping == .waiting {
        try platform.files.removeTree(waiting.path)
      } else if let refusal {
        try record.note(refusal)
      }
      throw error
    }
  }

  private func write(_ waiting: Waiting, _ volume: Manifest.Volume, to path: String, in staging: String) throws {
    let files = platform.files
    let whole = try files.createTemporary(in: staging, mode: 0o600)
    defer { files.close(whole.fd) }
    var hash = BLAKE2b512()
    let rebuilding = VolumeRebuilding(of: volume, pieceBytes: waiting.pieceBytes, files: files)
    let paths = try rebuilding.dataPieces(from: try present(in: waiting.path, of: waiting.parts), in: staging)
    for (_, path) in paths.sorted(by: { $0.key < $1.key }) {
      let fd = try files.open(path)
      defer { files.close(fd) }
      var pieces = files.pieces(of: fd)
      while let piece = try pieces.next() {
        hash.update(piece)
        try files.write(whole.fd, piece)
      }
    }
    guard hash.finish() == volume.digest else { throw BundleError.digest(waiting.whole) }
    try files.rename(whole.path, to: path)
  }

  /// The bundles whose pieces wait here.
  public func waiting() throws -> [Waiting] {
    guard try platform.files.kind(root) == .directory else { return [] }
    return try platform.files.list(root).compactMap { name in
      let words = name.split(separator: "~")
      guard (4...5).contains(words.count), let parts = Int64(words[1]), (1...Manifest.Volume.most).contains(parts)
      else { return nil }
      return try waiting(
        at: Paths.join(root, name), named: "\(words[0]).satchel", parts: parts, piece: Int64(words[2]) ?? 0)
    }
  }

  /// Deletes the pieces of the sender's bundles whose numbers are in `numbers`.
  /// - Parameter isNeeded: whether the pieces of a bundle stay. `whole` is the id of the whole bundle; nil if an
  ///   earlier release kept its first piece without the id.
  public func forget(
    _ sender: PartsSender, _ numbers: some RangeExpression<Int64>,
    unless isNeeded: (_ number: Int64, _ whole: BundleID?) throws -> Bool = { _, _ in false }
  ) throws {
    for waiting in try waiting() {
      guard let found = sender.number(of: waiting), numbers.contains(found),
        try !isNeeded(found, whole(in: waiting.path))
      else { continue }
      try platform.files.removeTree(waiting.path)
    }
  }

  private func waiting(at place: String, named whole: String, parts: Int64, piece: Int64) throws -> Waiting {
    Waiting(
      whole: whole, parts: parts, parity: try knownParity(in: place, of: parts),
      present: Set(try present(in: place, of: parts).keys), path: place, pieceBytes: piece)
  }

  /// The paths of the pieces in a folder, by the numbers of their volumes.
  private func present(in place: String, of parts: Int64) throws -> [Int64: String] {
    let numbers = 1...max(parts, Manifest.Volume.mostWithParity)
    return try platform.files.list(place).reduce(into: [:]) { paths, name in
      guard let part = Int64(name), numbers.contains(part) else { return }
      paths[part] = Paths.join(place, name)
    }
  }

  /// Records a fact in the name of an empty file beside the pieces.
  private func mark(_ name: String, in place: String) throws {
    let path = Paths.join(place, name)
    if try platform.files.kind(path) == nil { try platform.files.replace(path, mode: 0o644, contents: []) }
  }

  /// An empty file beside the pieces has this prefix and the id of the whole bundle as its name.
  private static let wholePrefix = "whole-"

  private func whole(in place: String) throws -> BundleID? {
    try platform.files.list(place).lazy.filter { $0.hasPrefix(Self.wholePrefix) }
      .compactMap { BundleID(String($0.dropFirst(Self.wholePrefix.count))) }.first
  }

  private static let parityPrefix = "parity-"

  /// The largest number of parity volumes that any volume of these pieces stated; 0 if none stated one.
  private func knownParity(in place: String, of parts: Int64) throws -> Int64 {
    let known = try platform.files.list(place).compactMap { name in
      name.hasPrefix(Self.parityPrefix) ? Int64(name.dropFirst(Self.parityPrefix.count)) : nil
    }.max()
    return min(max(0, known ?? 0), max(0, Manifest.Volume.mostWithParity - parts))
  }

  /// Records the number of parity volumes in the name of an empty file beside the pieces.
  private func noteParity(_ count: Int64, in place: String) throws {
    if count > 0 { try mark("\(Self.parityPrefix)\(count)", in: place) }
  }

  /// The name of the folder for the pieces of a bundle. It has the sender's id, because two senders may use the same
  /// name.
  private static func name(_ manifest: Manifest, _ volume: Manifest.Volume, piece: Int64) -> String {
    "\(formerName(manifest, volume, piece: piece))~\(manifest.from.id.text)"
  }

  /// The name that earlier releases gave to the folder.
  private static func formerName(_ manifest: Manifest, _ volume: Manifest.Volume, piece: Int64) -> String {
    let stem = manifest.wholeFileName.dropLast(".satchel".utf8.count)
    return "\(stem)~\(volume.parts)~\(piece)~\(volume.digest.hexadecimal.prefix(16))"
  }

  /// Moves the pieces of this bundle from the folder that an earlier release made.
  /// - Parameter manifest: the manifest with the name that the sender has given itself.
  private func adoptFormer(
    _ manifest: Manifest, _ volume: Manifest.Volume, piece: Int64, at place: String
  ) throws {
    let former = Paths.join(root, Self.formerName(manifest, volume, piece: piece))
    guard try platform.files.kind(place) == nil, try platform.files.kind(former) == .directory else { return }
    try platform.files.rename(former, to: place)
  }
}

extension Manifest {
  /// Throws if this is not the bundle of which a verified volume holds a piece.
  /// - Parameter volume: the manifest of the volume; nil: nothing is checked.
  public func check(isWholeOf volume: Manifest?) throws(BundleError) {
    guard let volume, case .volume(let body) = volume.body else { return }
    guard kind == body.whole, bundle == body.of, number == body.number, dataset == volume.dataset, from == volume.from,
      to == volume.to
    else { throw .manifest("it is not the bundle that its volumes describe") }
  }
}
