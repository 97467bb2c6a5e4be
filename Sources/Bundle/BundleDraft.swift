import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A bundle that is being made. The caller adds lines and files, then calls `seal` to sign them, then `write` to
/// write the file.
public struct BundleDraft: ~Copyable {
  private let platform: Platform
  private let folder: StagingFolder
  private var entries: [StagedEntry] = []
  private var counts: [EntryName: Int64] = [:]
  /// The features that a reader must support to read the added content.
  private var critical: [Manifest.Critical] = []

  /// An entry whose file is complete.
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

  /// - Parameter parent: a folder on the same file system as the finished bundle.
  public init(in parent: String, platform: Platform) throws(PlatformError) {
    self.platform = platform
    folder = try StagingFolder(in: parent, platform: platform)
  }

  /// The path at which the caller may build the file of an entry before it adds the entry.
  public func file(_ name: String) -> String { folder.file(name) }

  /// Adds the lines that `body` writes. If `body` writes no line, no entry is added.
  public mutating func addChanges(_ body: (_ line: (ChangeLine) throws -> Void) throws -> Void) throws {
    try addLines(.changes, body)
  }

  /// Adds one line for each item that `body` adds, in the same order. `maker` makes the lines on another core.
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

  /// Adds the lines of steps, sorted by their `ApplyOrder`. Lines with the same order stay as they came.
  /// - Parameters:
  ///   - tables: the tables. Each step names one of them by its index.
  ///   - first: lines that come before the lines of all steps.
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

  /// Adds each conflict that `body` passes to its argument, in this order.
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

  /// - Parameter migrations: the migrations in the order of their versions.
  public mutating func addMigrations(_ migrations: [Migration]) throws {
    try addLines(.migrations) { line in for migration in migrations { try line(migration) } }
  }

  /// Copies the lines about rows, decisions and attachments from a verified bundle, and the attachments themselves.
  public mutating func addContents(of bundle: borrowing VerifiedBundle) throws {
    try copy([.changes, .resolutions, .attachments], of: bundle)
    require(Set(bundle.manifest.critical).subtracting([.state, .continues]))
  }

  /// Copies the lines about attachments from a verified bundle, and the attachments themselves.
  public mutating func addAttachments(of bundle: borrowing VerifiedBundle) throws {
    try copy([.attachments], of: bundle)
    require(Set(bundle.manifest.critical).intersection([.attachments]))
  }

  /// Copies the attachments and these entries of a bundle.
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

  /// Adds a database as the snapshot. The caller has built it at `path`, in this draft's folder.
  public mutating func addSnapshot(at path: String) throws {
    entries.append(try staged(.snapshot, at: path))
  }

  /// Adds the database with the files of a backup. The caller has built it at `path`, in this draft's folder.
  public mutating func addFiles(at path: String) throws {
    entries.append(try staged(.files, at: path))
  }

  /// Copies an attachment into this draft's folder. The bundle carries it only if `addAttachments` gets the result.
  /// Returns nil if the file has more than `limit` bytes.
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

  /// Adds the lines about attachments, and the content of the attachments in `carried`.
  /// - Parameter received: attachments that came from the other replica.
  public mutating func addAttachments(
    _ carried: [CarriedFile], received: [AttachmentLine]
  ) throws {
    let files = carried.map {
      AttachmentLine(path: $0.path, digest: $0.file.digest, content: .file(bytes: $0.file.bytes, was: $0.was))
    }
    // Only so many receipts fit. Without a receipt the other replica sends the file once more, which does no harm.
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

  /// A file in the draft's folder: the content of an attachment or of an entry.
  public struct StagedFile: Sendable {
    let path: String
    public let bytes: Int64
    public let digest: Digest
  }

  /// An attachment that a bundle will carry.
  public struct CarriedFile: Sendable {
    let path: AttachmentPath
    let file: StagedFile
    let was: Digest?

    /// - Parameter was: the version of the file that the other replica has; nil if no version is known.
    public init(_ path: AttachmentPath, _ file: StagedFile, was: Digest? = nil) {
      self.path = path
      self.file = file
      self.was = was == file.digest ? nil : was
    }
  }

  /// Adds a piece of another bundle's file: the next `bytes` bytes of `source`, or fewer at its end.
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

  /// Records features that a reader of this bundle must support.
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

  /// Signs the content. Nothing may be added after that. The time for it depends only on the number of entries. So
  /// the caller can seal the bundle while it holds the database's lock, and write the file later.
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

  /// Writes the sealed bundle to a new file with a temporary name in the draft's folder, and syncs it. Returns the
  /// path. The caller renames the file after its database has recorded the bundle.
  /// - Parameter recipients: the recipients of the encrypted file; empty if it is not encrypted.
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

/// A signed bundle whose entries are still separate files in the draft's folder.
public struct SealedBundle: Sendable {
  public let manifest: Manifest
  /// The digest of B2SUMS. The `chain` of later bundles names this bundle by it.
  public let digest: Digest
  /// The small entries at the beginning.
  let heads: [(name: EntryName, bytes: [UInt8])]
}

extension Manifest {
  /// The untrusted comment of each bundle's signature. It is always the same, so that no bytes can be hidden in it.
  static let untrustedComment = "signature of B2SUMS in a Satchel bundle"

  /// The trusted comment of the signature. It contains the public key. At the first contact with a sender, the reader
  /// takes the key from here, and checks the signature with it before it reads anything else. A person then compares
  /// the key's fingerprint.
  func trustedComment(signer: PublicKey) -> String {
    """
    satchel \(kind.rawValue) \(bundle) dataset=\(dataset) from=\(from.id) to=\(to.id) number=\(number) \
    key=\(signer.line)
    """
  }
}
