import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Reads and verifies bundles; no other code reads them. It decodes a file within limits, and checks the signature,
/// the manifest and the digests.
///
/// Before the signature is checked, only the signature and B2SUMS are read. Each entry after the manifest is digested
/// while it is written to a staging folder. An entry is parsed only if its digest is the signed one.
public struct BundleReader {
  /// The public keys that may have signed a bundle.
  public enum Trust: Sendable {
    /// Keys that this replica knows. The id in the signature selects the key.
    case keys([PublicKey])
    /// For the first bundle from a sender. The key is in the signature's comment, and the signature proves only that
    /// the sender has this key. A person must compare the fingerprint to know whose key it is.
    case firstContact
  }

  private let platform: Platform
  private let limits: BundleLimits
  private let identities: () throws -> [AgeIdentity]

  /// - Parameter identities: returns the age identities that decrypt bundles. It is called only for an encrypted
  ///   bundle.
  public init(
    platform: Platform, identities: @escaping () throws -> [AgeIdentity] = { [] }, limits: BundleLimits = BundleLimits()
  ) {
    self.platform = platform
    self.identities = identities
    self.limits = limits
  }

  /// Reads and verifies the file at `path`. Its entries are then in a new folder inside `staging`.
  ///
  /// Throws a `BundleError` if the file is refused. Then nothing of the file is left in `staging`.
  /// - Parameter admit: gets the verified manifest, and throws if the rest must not be read. So a bundle for another
  ///   replica or from a stranger cannot fill the disk.
  /// - Parameter file: whether the reader keeps a copy of the file for the workspace.
  /// - Parameter admitSize: gets the size of all entries, and throws if there is no room for them.
  public func read(
    _ path: String, trust: Trust, staging: String, file keeping: FileKeeping = .notKept,
    admit: (_ manifest: Manifest, _ signer: PublicKey) throws -> Void = { _, _ in },
    size admitSize: (_ bytes: Int64) throws -> Void = { _ in }
  ) throws -> VerifiedBundle {
    let folder = try StagingFolder(in: staging, platform: platform)
    let fd = try platform.files.open(path)
    defer { platform.files.close(fd) }
    let copied = keeping == .kept ? CopiedSource(fd, files: platform.files) : nil
    var tar = try TarReader(from: ZstdSource(limits: limits, opened(copied ?? FileSource(fd, files: platform.files))))
    let head = try head(of: &tar, trust)
    try admit(head.manifest, head.signer)
    let bytes = head.entries.reduce(0) { $0 + $1.bytes }
    try admitSize(bytes)
    try copied?.begin(in: folder)
    var meter = ProgressMeter(.reading, of: bytes, for: platform.progress)
    for entry in head.entries {
      try stage(entry, of: &tar, digest: head.sums[entry.name], in: folder) { meter.add($0) }
    }
    if let surplus = try tar.next() {
      throw BundleError.entry(printable(surplus.name), "comes after the last signed entry")
    }
    return VerifiedBundle(
      manifest: head.manifest, signer: head.signer, signature: head.signature, digest: head.digest,
      entries: head.entries, file: copied?.file,
      folder: folder, limits: limits,
      platform: platform)
  }

  /// The verified manifest of a bundle. Nothing after the manifest is read.
  public func manifest(of path: String, trust: Trust) throws -> Manifest {
    try identity(of: path, trust: trust).manifest
  }

  /// The verified beginning of a bundle: the manifest, the digest and the signature of B2SUMS, and the signer's key.
  public struct Identity: Sendable {
    public let manifest: Manifest
    public let digest: Digest
    public let signature: Signature
    public let signer: PublicKey
  }

  /// Reads and verifies the beginning of a bundle. Nothing after the manifest is read.
  public func identity(of path: String, trust: Trust) throws -> Identity {
    try withOpened(path) {
      var tar = try TarReader(from: ZstdSource(limits: limits, $0))
      let head = try head(of: &tar, trust)
      return Identity(manifest: head.manifest, digest: head.digest, signature: head.signature, signer: head.signer)
    }
  }

  /// Like `identity`, but returns nil if the file is missing or refused for any reason. Other errors of the disk are
  /// thrown, because they say nothing about the file.
  public func identityIfSound(of path: String, trust: Trust) throws -> Identity? {
    do { return try identity(of: path, trust: trust) } catch is BundleError {
      return nil
    } catch PlatformError.missing {
      return nil
    }
  }

  /// Like `manifest`, but returns nil if the file is missing or refused for any reason.
  public func manifestIfSound(of path: String, trust: Trust) throws -> Manifest? {
    try identityIfSound(of: path, trust: trust)?.manifest
  }

  /// The verified small entries at the beginning of a bundle.
  private struct Head {
    let manifest: Manifest
    let entries: [Manifest.Entry]
    let signer: PublicKey
    let signature: Signature
    let sums: Sums
    let digest: Digest
  }

  private func head(of tar: inout TarReader, _ trust: Trust) throws -> Head {
    let signatureBytes = try small(.signature, of: &tar, limit: limits.signatureBytes)
    let sumsBytes = try small(.sums, of: &tar, limit: limits.sumsBytes)
    let (key, signature, comment) = try verify(signatureBytes, sumsBytes, trust)
    let sums = try Sums(sumsBytes)

    let manifestBytes = try small(.manifest, of: &tar, limit: limits.manifestBytes)
    guard let expected = sums[.manifest], Digest.of(manifestBytes) == expected else {
      throw BundleError.digest("manifest.json")
    }
    let (manifest, entries) = try Manifest.parse(manifestBytes, limits: limits)
    try manifest.check(entries)
    guard comment.utf8.elementsEqual(manifest.trustedComment(signer: key).utf8) else {
      throw BundleError.manifest("it differs from the signature's comment")
    }
    guard sums.names == [.manifest] + entries.map(\.name) else {
      throw BundleError.manifest("its entries differ from those in B2SUMS")
    }

    // The manifest's rules limit each size, so the sum cannot overflow.
    guard entries.reduce(0, { $0 + $1.bytes }) <= limits.totalBytes else {
      throw BundleError.tooLarge("Its whole content", limit: limits.totalBytes)
    }
    return Head(
      manifest: manifest, entries: entries, signer: key, signature: signature, sums: sums, digest: Digest.of(sumsBytes))
  }

  /// The content of a file, decrypted if the file is encrypted.
  private func opened(_ source: any ByteSource) throws -> any ByteSource {
    let file = try PeekedSource(source, count: 64)
    return try AgeOpener.isAge(file.beginning) ? AgeSource(file, identities()) : file
  }

  /// Calls `body` with the content of a file, decrypted if the file is encrypted.
  func withOpened<T>(_ path: String, _ body: (any ByteSource) throws -> T) throws -> T {
    let fd = try platform.files.open(path)
    defer { platform.files.close(fd) }
    return try body(opened(FileSource(fd, files: platform.files)))
  }

  /// Whether the first bytes of a file show that it is encrypted.
  public func isEncrypted(_ path: String) throws -> Bool {
    let fd = try platform.files.open(path)
    defer { platform.files.close(fd) }
    return AgeOpener.isAge(try PeekedSource(FileSource(fd, files: platform.files), count: 64).beginning)
  }

  /// Whether a file may be a bundle, by its first bytes: they must show that it is encrypted, or compressed as a bundle
  /// is. A film or a picture is neither.
  public static func mayBeBundle(_ path: String, _ files: any FileSystem) throws -> Bool {
    let fd = try files.open(path)
    defer { files.close(fd) }
    let beginning = try PeekedSource(FileSource(fd, files: files), count: 64).beginning
    return AgeOpener.isAge(beginning) || beginning.starts(with: ZstdSource.magic)
  }

  private func verify(_ signatureBytes: [UInt8], _ sums: [UInt8], _ trust: Trust) throws(BundleError) -> (
    PublicKey, Signature, comment: String
  ) {
    let signature: Signature
    do { signature = try Signature(fileBytes: signatureBytes) } catch { throw .badSignature(error.message) }
    guard signatureBytes.starts(with: "untrusted comment: \(Manifest.untrustedComment)\n".utf8) else {
      throw .badSignature("its untrusted comment is not the comment of a bundle")
    }
    switch trust {
    case .keys(let known): return try verify(signature, sums, known)
    case .firstContact:
      let claim = signature.unverifiedTrustedComment.split(separator: " ").last { $0.hasPrefix("key=") }
      guard let claim, let claimed = PublicKey(line: String(claim.dropFirst(4))) else {
        throw .badSignature("it names no key")
      }
      return try verify(signature, sums, [claimed])
    }
  }

  /// Tries each known key with the signature's id, because anyone can make a key with the id of another key.
  private func verify(_ signature: Signature, _ sums: [UInt8], _ known: [PublicKey]) throws(BundleError) -> (
    PublicKey, Signature, comment: String
  ) {
    var failure = BundleError.unknownKey(signature.keyID.description)
    for key in known where key.id == signature.keyID {
      do { return (key, signature, try key.verify(signature, message: sums)) } catch {
        failure = .badSignature(error.message)
      }
    }
    throw failure
  }

  /// Reads the next entry into memory. It must have this name.
  private func small(_ name: EntryName, of tar: inout TarReader, limit: Int64) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(try header(name, of: &tar, limit: limit)))
    _ = try tar.read(into: &bytes)
    return bytes
  }

  private func header(_ name: EntryName, of tar: inout TarReader, limit: Int64) throws -> Int64 {
    guard let header = try tar.next() else { throw BundleError.truncated }
    guard header.name.elementsEqual(name.rawValue.utf8) else {
      throw BundleError.entry(printable(header.name), "is in the place of \(name.rawValue)")
    }
    guard header.kind == .file else { throw BundleError.entry(name.rawValue, "is not a plain file") }
    guard header.size <= limit else { throw BundleError.tooLarge("The entry \(name.rawValue)", limit: limit) }
    return header.size
  }

  private func stage(
    _ entry: Manifest.Entry, of tar: inout TarReader, digest expected: Digest?, in folder: borrowing StagingFolder,
    tell: (_ bytes: Int) -> Void
  ) throws {
    let limit = entry.name.isBlob ? limits.blobBytes : limits.entryBytes
    guard entry.bytes <= limit else { throw BundleError.tooLarge("The entry \(entry.name.rawValue)", limit: limit) }
    let size = try header(entry.name, of: &tar, limit: limit)
    guard size == entry.bytes else { throw BundleError.entry(entry.name.rawValue, "does not have the signed size") }
    var writer = try EntryWriter(in: folder)
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = try tar.read(into: &buffer)
      if count == 0 { break }
      try writer.write(count == buffer.count ? buffer : Array(buffer[..<count]))
      tell(count)
    }
    guard try writer.finish().digest == expected else { throw BundleError.digest(entry.name.rawValue) }
    if case .blob(let blob) = entry.name, expected.map({ BlobName(of: $0) }) != blob {
      throw BundleError.entry(entry.name.rawValue, "is not named after its digest")
    }
    try platform.files.rename(writer.path, to: folder.file(entry.name.fileName))
  }
}

/// A name from an archive in a form that is safe to show: short and without control characters.
private func printable(_ name: [UInt8]) -> String {
  let safe = name.prefix(60).map { (32..<127).contains($0) ? String(UnicodeScalar($0)) : "?" }.joined()
  return "\"\(safe)\""
}
