import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A bundle that is being made. The caller adds lines and files. `seal` signs them, and `write` writes the file.
public struct BundleDraft: ~Copyable {
  private let platform: Platform
  private let folder: StagingFolder
  private var entries: [StagedEntry] = []
  private var counts: [EntryName: Int64] = [:]
  /// The critical features that the added content needs.
  private var critical: [Manifest.Critical] = []

  /// An entry that is complete in the folder.
  struct StagedEntry {
    let name: EntryName
    let path: String
    let bytes: Int64
    let digest: Digest

    init(_ name: EntryName, _ file: StagedFile) {
      self.name = name
      path = file.path
      bytes = file.bytes
      digest = file.digest
    }
  }

  /// - Parameter parent: a folder on the file system on which the bundle will be.
  public init(in parent: String, platform: Platform) throws(PlatformError) {
    self.platform = platform
    folder = try StagingFolder(in: parent, platform: platform)
  }

  /// The path at which an entry's file may be built before it is added.
  public func file(_ name: String) -> String { folder.file(name) }

  /// Adds the lines that `body` writes. Adds no entry if `body` writes no line.
  public mutating func addChanges(_ body: (_ line: (ChangeLine) throws -> Void) throws -> Void) throws {
    try addLines(.changes, body)
  }

  /// Adds the lines that `maker` makes from the items that `body` adds. The lines have the order of the items. Another
  /// core makes the lines.
  public mutating func addChanges<Maker: ChangeLineMaker>(
    by maker: Maker, _ body: (_ add: (Maker.Item) throws -> Void) throws -> Void
  ) throws {
    let tally = LineTally(platform.progress)
    var lines = MadeLines(maker, tally)
    var entry = try EntryWriter(in: folder)
    try body { item in try lines.add(item) { try entry.write($0.bytes) } }
    try lines.finish { try entry.write($0.bytes) }
    try add(.changes, entry.finish(), tally)
  }

  /// Adds the lines of steps, ordered by their places. Lines of one place keep their order.
  /// - Parameters:
  ///   - tables: the tables that steps refer to by index.
  ///   - first: lines to write before all steps.
  public mutating func addSteps(
    of tables: [TableSchema], behind first: [ChangeLine],
    _ body: (_ step: (ApplyOrder, _ table: Int, Step) throws -> Void) throws -> Void
  ) throws {
    let tally = LineTally(platform.progress)
    var sorter = try LineSorter(in: folder)
    for line in first {
      var writer = LineWriter()
      try writer.write(line)
      try sorter.add(writer.bytes[...], .first)
      tally.add(1, line.critical)
    }
    var lines = MadeLines(StepLineMaker(tables: tables), tally)
    try body { place, table, step in
      try lines.add(.init(place: place, table: table, step: step)) { try sorter.add($0) }
    }
    try lines.finish { try sorter.add($0) }
    try add(.changes, sorter.finish(in: folder), tally)
  }

  public mutating func addConflicts(_ records: [ConflictRecord]) throws {
    try addConflicts { add in for record in records { try add(record) } }
  }

  /// Adds each conflict that `body` passes on, in their order.
  public mutating func addConflicts(_ body: (_ add: (ConflictRecord) throws -> Void) throws -> Void) throws {
    try addLines(.conflicts, body)
  }

  public mutating func addResolutions(_ resolutions: [Resolution]) throws {
    try addLines(.resolutions) { line in for resolution in resolutions { try line(resolution) } }
  }

  public mutating func addDataset(_ source: [UInt8]) throws {
    var entry = try EntryWriter(in: folder)
    try entry.write(source)
    entries.append(StagedEntry(.dataset, try entry.finish()))
  }

  public mutating func addState(_ state: StateEntry) throws {
    var entry = try EntryWriter(in: folder)
    try entry.write(state.bytes)
    entries.append(StagedEntry(.state, try entry.finish()))
    require([.state])
  }

  /// - Parameter migrations: in the order of their versions.
  public mutating func addMigrations(_ migrations: [Migration]) throws {
    try addLines(.migrations) { line in for migration in migrations { try line(migration) } }
  }

  /// Copies from a verified bundle the lines about rows, decisions and attached files, and the attached files.
  public mutating func addContents(of bundle: borrowing VerifiedBundle) throws {
    try copy([.changes, .resolutions, .attachments], of: bundle)
    require(Set(bundle.manifest.critical).subtracting([.state, .continues]))
  }

  /// Copies from a verified bundle the lines about attached files, and the attached files.
  public mutating func addAttachments(of bundle: borrowing VerifiedBundle) throws {
    try copy([.attachments], of: bundle)
    require(Set(bundle.manifest.critical).intersection([.attachments]))
  }

  /// Copies the attached files of a bundle, and these entries.
  private mutating func copy(_ names: [EntryName], of bundle: borrowing VerifiedBundle) throws {
    for entry in bundle.entryList {
      guard entry.name.isBlob || names.contains(entry.name), let source = bundle.path(of: entry.name) else { continue }
      let path = folder.file(entry.name.fileName)
      try platform.files.copy(source, to: path, mode: 0o644)
      entries.append(try staged(entry.name, at: path))
    }
    let manifest = bundle.manifest
    let sizes: [EntryName: Int64] = [
      .changes: manifest.changes, .resolutions: manifest.resolutions, .attachments: manifest.attachments,
    ]
    for name in names { counts[name] = sizes[name] }
  }

  /// Adds a database that was built at `path`, which must be in this draft's folder.
  public mutating func addSnapshot(at path: String) throws {
    entries.append(try staged(.snapshot, at: path))
  }

  /// Adds the database with the files of a backup. It was built at `path` in this draft's folder.
  public mutating func addFiles(at path: String) throws {
    entries.append(try staged(.files, at: path))
  }

  /// Copies an attached file into this draft's folder. The bundle carries the file only if `addAttachments` receives
  /// it. Returns nil if the file has more than `limit` bytes by now.
  public func stage(_ fd: Int32, limit: Int64) throws -> StagedFile? {
    var entry = try EntryWriter(in: folder)
    var pieces = platform.files.pieces(of: fd)
    while let piece = try pieces.next() {
      guard entry.written + Int64(piece.count) <= limit else {
        try platform.files.remove(entry.path)
        return nil
      }
      try entry.write(piece)
    }
    return try entry.finish()
  }

  /// Adds lines about attached files, and the contents of the files in `carried`.
  /// - Parameter received: files that came from the other side.
  public mutating func addAttachments(
    _ carried: [CarriedFile], received: [AttachmentLine]
  ) throws {
    let files = carried.map {
      AttachmentLine(path: $0.path, digest: $0.file.digest, content: .file(bytes: $0.file.bytes, was: $0.was))
    }
    // If the other side does not learn that a file came, it sends the file again.
    let told = received.prefix(BundleLimits.mostAttachments - files.count)
    try addLines(.attachments) { line in
      for entry in (files + told).sorted(by: AttachmentLine.precedes) { try line(entry) }
    }
    var added: Set<BlobName> = []
    for file in carried.map(\.file) {
      let name = BlobName(of: file.digest)
      guard added.insert(name).inserted else { continue }
      entries.append(StagedEntry(.blob(name), file))
    }
  }

  /// A file in a draft's folder: an attached file's content, or an entry.
  public struct StagedFile: Sendable {
    let path: String
    public let bytes: Int64
    public let digest: Digest
  }

  /// An attached file that a bundle will carry.
  public struct CarriedFile: Sendable {
    let path: AttachmentPath
    let file: StagedFile
    let was: Digest?

    /// - Parameter was: the version of the file that the other side has; nil: no version is known.
    public init(_ path: AttachmentPath, _ file: StagedFile, was: Digest? = nil) {
      self.path = path
      self.file = file
      self.was = was == file.digest ? nil : was
    }
  }

  /// Adds a piece of another bundle's file: the next `bytes` bytes of `source`, or all remaining bytes if there are
  /// fewer.
  mutating func addPart(_ bytes: Int64, of source: any ByteSource) throws {
    var entry = try EntryWriter(in: folder)
    var buffer: [UInt8] = []
    while entry.written < bytes {
      let wanted = Int(min(256 << 10, bytes - entry.written))
      if buffer.count != wanted { buffer = [UInt8](repeating: 0, count: wanted) }
      let count = try source.read(into: &buffer)
      if count == 0 { break }
      try entry.write(count == buffer.count ? buffer : Array(buffer[..<count]))
    }
    entries.append(StagedEntry(.part, try entry.finish()))
  }

  public func count(of entry: EntryName) -> Int64 { counts[entry] ?? 0 }

  private mutating func addLines<Line: BundleLine>(
    _ name: EntryName, _ body: (_ line: (Line) throws -> Void) throws -> Void
  ) throws {
    let tally = LineTally(platform.progress)
    var writer = LineWriter()
    var entry = try EntryWriter(in: folder)
    try body { line in
      writer.beginAnew()
      try writer.write(line)
      try entry.write(writer.bytes)
      tally.add(1, line.critical)
    }
    try add(name, entry.finish(), tally)
  }

  private mutating func add(_ name: EntryName, _ file: StagedFile, _ tally: LineTally) {
    require(tally.needed)
    if tally.count == 0 { return }
    counts[name] = tally.count
    entries.append(StagedEntry(name, file))
  }

  /// Records features that a reader must support to read the added content.
  public mutating func require(_ features: Set<Manifest.Critical>) {
    critical += features.subtracting(critical).sorted { $0.rawValue < $1.rawValue }
  }

  private func staged(_ name: EntryName, at path: String) throws -> StagedEntry {
    let fd = try platform.files.open(path)
    defer { platform.files.close(fd) }
    var pieces = platform.files.pieces(of: fd)
    let (bytes, digest) = try pieces.digest()
    return StagedEntry(name, StagedFile(path: path, bytes: bytes, digest: digest))
  }

  // MARK: sealing

  /// Signs the content. Nothing may be added afterwards. The signing time depends only on the number of entries. So the
  /// caller can seal the bundle while the database is locked, and compress the file afterwards.
  public mutating func seal(_ manifest: Manifest, with key: borrowing SigningKey) throws -> SealedBundle {
    var manifest = manifest
    manifest.critical = critical + (manifest.body.continuation == nil ? [] : [.continues])
    manifest.attachments = count(of: .attachments)
    manifest.blobs = Int64(entries.count { $0.name.isBlob })
    entries.sort { $0.name < $1.name }
    let promised = entries.map { Manifest.Entry(name: $0.name, bytes: $0.bytes) }
    try manifest.check(promised)
    let manifestBytes = manifest.json(entries: promised).prettyBytes
    var sums = Digest.of(manifestBytes).hexadecimal + "  \(EntryName.manifest.rawValue)\n"
    for entry in entries { sums += entry.digest.hexadecimal + "  \(entry.name.rawValue)\n" }
    let sumsBytes = Array(sums.utf8)
    let signature = try key.sign(
      message: sumsBytes, trustedComment: manifest.trustedComment(signer: key.publicKey),
      untrustedComment: Manifest.untrustedComment)
    return SealedBundle(
      manifest: manifest, digest: Digest.of(sumsBytes),
      heads: [(.signature, signature.fileBytes), (.sums, sumsBytes), (.manifest, manifestBytes)])
  }

  /// Writes the sealed bundle to a new synced file with a temporary name in the draft's folder. Returns the file's
  /// path. The caller renames the file when its database has a record of the bundle.
  /// - Parameter recipients: the recipients of the encrypted file; empty: it is not encrypted.
  public func write(_ sealed: SealedBundle, for recipients: [AgeRecipient] = []) throws -> String {
    let made = try platform.files.createTemporary(in: folder.path, mode: 0o644)
    defer { platform.files.close(made.fd) }
    let bytes = entries.reduce(0) { $0 + $1.bytes }
    let tar = try TarWriter(to: packing(bytes, into: made.fd, for: recipients))
    for head in sealed.heads { try tar.add(head.name, head.bytes) }
    var meter = ProgressMeter(.writing, of: bytes, for: platform.progress)
    for entry in entries {
      try tar.add(entry.name, file: entry.path, bytes: entry.bytes, files: platform.files) { meter.add($0) }
    }
    try tar.finish()
    try platform.files.sync(made.fd)
    return made.path
  }

  private func packing(_ bytes: Int64, into fd: Int32, for recipients: [AgeRecipient]) throws -> ZstdSink {
    let file = FileSink(fd, files: platform.files)
    let sink: any ByteSink =
      try recipients.isEmpty ? file : AgeSink(file, for: recipients, random: platform.random.bytes)
    return try ZstdSink(sink, of: bytes)
  }
}

/// A signed bundle that is still in its draft's folder, entry by entry.
public struct SealedBundle: Sendable {
  public let manifest: Manifest
  /// The digest of B2SUMS. Later bundles name this bundle by this digest in their `chain`.
  public let digest: Digest
  /// The small entries before all others.
  let heads: [(name: EntryName, bytes: [UInt8])]
}

extension Manifest {
  /// The comment above the signature of every bundle. It is fixed, so that no byte of a bundle can be chosen freely.
  static let untrustedComment = "signature of B2SUMS in a Satchel bundle"

  /// The signature's trusted comment. It contains the key. At the first contact with a sender, the reader takes the key
  /// from this comment. The reader checks the signature before it reads anything else. A person compares the key's
  /// fingerprint afterwards.
  func trustedComment(signer: PublicKey) -> String {
    """
    satchel \(kind.rawValue) \(bundle) dataset=\(dataset) from=\(from.id) to=\(to.id) number=\(number) \
    key=\(signer.line)
    """
  }
}
