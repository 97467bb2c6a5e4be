import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues

/// A bundle whose signature and digests are right. Only `BundleReader` makes this value, and only such a bundle can
/// be imported.
///
/// The entries are files in a staging folder, which is deleted with this value.
public struct VerifiedBundle: ~Copyable {
  public private(set) var manifest: Manifest
  /// The name that the sender gives itself in the manifest.
  public let senderName: String
  public let signer: PublicKey
  /// The signature of B2SUMS.
  public let signature: Signature
  /// The digest of B2SUMS.
  public let digest: Digest
  private let entries: [Manifest.Entry]
  /// nil if the reader kept no copy of the file.
  private let keptFile: VerifiedFile?
  private let folder: StagingFolder
  let limits: BundleLimits
  private let platform: Platform

  init(
    manifest: Manifest, signer: PublicKey, signature: Signature, digest: Digest, entries: [Manifest.Entry],
    file: VerifiedFile?, folder: consuming StagingFolder,
    limits: BundleLimits, platform: Platform
  ) {
    self.manifest = manifest
    senderName = manifest.from.name
    self.signer = signer
    self.signature = signature
    self.digest = digest
    self.entries = entries
    keptFile = file
    self.folder = folder
    self.limits = limits
    self.platform = platform
  }

  /// The copy of the bundle's file, for the workspace. Throws unless the bundle was read with `file: .kept`.
  public var file: VerifiedFile {
    get throws {
      guard let keptFile else { throw BundleError.archive("its file was not kept when it was read") }
      return keptFile
    }
  }

  /// The clock of the reader.
  public var clock: any WallClock { platform.clock }

  /// Changes the sender's name in the manifest to the name that this replica uses for the sender.
  public mutating func call(sender name: String) { manifest = manifest.from(name) }

  public var entryList: [Manifest.Entry] { entries }

  public func has(_ name: EntryName) -> Bool { entries.contains { $0.name == name } }

  /// The path of the entry's file in the staging folder; nil if the bundle has no such entry.
  public func path(of name: EntryName) -> String? { has(name) ? folder.file(name.fileName) : nil }

  /// The lines of `changes.jsonl`. The caller reads them while this bundle exists.
  public func changeLines() throws -> ChangeLines {
    try ChangeLines(path: path(of: .changes), of: manifest, limits: limits, platform: platform)
  }

  /// Calls `body` for each line of `changes.jsonl`. If `body` throws a `LineProblem`, the error names the line's
  /// number.
  public func eachChange(_ body: (ChangeLine) throws -> Void) throws { try changeLines().each(body) }

  public func eachConflict(_ body: (ConflictRecord) throws -> Void) throws {
    try eachLine(.conflicts, manifest.conflicts) { bytes throws in try body(ConflictRecord.parse(bytes, limits: limits))
    }
  }

  public func eachResolution(_ body: (Resolution) throws -> Void) throws {
    try eachLine(.resolutions, manifest.resolutions) { bytes throws in try body(Resolution.parse(bytes, limits: limits))
    }
  }

  /// The definition of the dataset in the bundle; nil if the bundle has none.
  public func dataset(limit: Int) throws -> [UInt8]? {
    guard let path = path(of: .dataset) else { return nil }
    return try platform.files.read(path, limit: limit)
  }

  /// The digests of a device's rows; nil if the bundle has none.
  public func state() throws -> StateEntry? {
    guard let path = path(of: .state) else { return nil }
    if entries.contains(where: { $0.name == .state && $0.bytes > StateEntry.mostBytes }) {
      throw BundleError.tooLarge("The entry state.json", limit: Int64(StateEntry.mostBytes))
    }
    return try StateEntry(json: platform.files.read(path, limit: StateEntry.mostBytes))
  }

  /// The migrations in the bundle, in the order of their versions. Throws if a version is above the bundle's version.
  public func migrations() throws -> [Migration] {
    var migrations: [Migration] = []
    try eachLine(.migrations, nil) { bytes throws in
      let migration = try Migration.parse(bytes, limits: limits)
      guard migration.version > migrations.last?.version ?? 1, migration.version <= manifest.version else {
        throw LineProblem("its version is out of order, or above the bundle's")
      }
      migrations.append(migration)
    }
    return migrations
  }

  /// - Parameter expected: the number of lines that the entry must have; nil allows any number.
  func eachLine(_ entry: EntryName, _ expected: Int64?, _ body: ([UInt8]) throws -> Void) throws {
    var number = 0
    if let path = path(of: entry) {
      var reader = try LineReader(path: path, limit: limits.lineBytes, files: platform.files)
      do {
        while let line = try reader.line() {
          number += 1
          try body(line)
        }
      } catch let problem as LineProblem {
        throw BundleError.line(entry: entry.rawValue, number: number, problem.message)
      } catch let error as JSONError {
        throw BundleError.line(entry: entry.rawValue, number: number, "\(error.reason), at byte \(error.offset)")
      }
    }
    if let expected, number != expected {
      throw BundleError.manifest("it announces \(expected) lines in \(entry.rawValue), and there are \(number)")
    }
  }
}
