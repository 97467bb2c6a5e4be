import SatchelBundle
import SatchelPlatform

/// The folder `bundles/archive`, with the bundles from which a replica's rows came. A lost database can be rebuilt
/// from these bundles.
public struct BundleArchive: Sendable {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  public init(_ folder: WorkspaceFolder, _ files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  /// Puts the file of a verified bundle into the archive, unless the bundle was read from there. The caller does this
  /// before the commit that refers to the file. If the commit fails, the superfluous file does no harm.
  /// - Parameter path: the path from which the bundle was read.
  public func keep(_ bundle: borrowing VerifiedBundle, from path: String) throws {
    try files.makeDirectory(folder.archive, mode: 0o755)
    let target = Paths.join(folder.archive, bundle.manifest.fileName)
    if target != path { try bundle.file.put(at: target) }
  }

  /// Puts a copy of a bundle that this replica made into the archive.
  public func keepOwn(_ path: String, as name: String) throws {
    try files.makeDirectory(folder.archive, mode: 0o755)
    try files.copy(path, to: Paths.join(folder.archive, name), mode: 0o644)
  }

  /// Syncs the names of the files in the archive. A failed command may have put a file here without syncing its name.
  /// A later commit may rely on that file, so its name must survive a power cut.
  public func secure() throws { try files.syncDirectory(folder.archive) }

  /// The paths of the bundles that this replica made for any recipient, the highest number first. Their names are
  /// `prefix`, then any text, then a number and `.satchel`.
  public func outgoing(toAnyone prefix: String) throws -> [String] {
    var found: [(number: Int64, path: String)] = []
    for place in placesOfOutgoing where try files.kind(place) == .directory {
      for name in try files.list(place).sorted() where name.hasPrefix(prefix) {
        guard let dash = name.utf8.lastIndex(of: UInt8(ascii: "-")),
          let number = Self.number(in: name, String(name[...dash]))
        else { continue }
        found.append((number, Paths.join(place, name)))
      }
    }
    return found.sorted { $0.number > $1.number }.map(\.path)
  }

  /// Whether the archive holds any bundle.
  public func hasAny() throws -> Bool {
    try files.kind(folder.archive) == .directory && files.list(folder.archive).contains { $0.hasSuffix(".satchel") }
  }

  /// The numbers of the files in the archive that are named `prefix`, a number and `.satchel`, in ascending order.
  public func numbers(_ prefix: String) throws -> [Int64] { try Self.numbers(prefix, in: folder.archive, files) }

  /// The files that are named `prefix`, a number and `.satchel`, in the archive and in the folder `former`. They are
  /// in the order of their numbers. Several bundles of earlier epochs may have the same number.
  public func withFormer(_ prefix: String) throws -> [(number: Int64, path: String)] {
    try [folder.former, folder.archive].flatMap { place -> [(Int64, String)] in
      guard try files.kind(place) == .directory else { return [] }
      return try files.list(place).sorted().compactMap { name in
        (Self.number(in: name, prefix) ?? Self.formerNumber(in: name, prefix)).map { ($0, Paths.join(place, name)) }
      }
    }.sorted { $0.0 < $1.0 }
  }

  public func path(_ prefix: String, _ number: Int64) -> String {
    Paths.join(folder.archive, "\(prefix)\(number).satchel")
  }

  /// The path of a bundle that this replica made; nil if its file is in none of the folders.
  public func place(ofOutgoing name: String) throws -> String? {
    try placesOfOutgoing.map { Paths.join($0, name) }.first { try files.kind($0) == .file }
  }

  /// The numbers of the bundles that this replica made and whose files exist, in ascending order.
  public func outgoing(_ prefix: String) throws -> [Int64] {
    try Set(placesOfOutgoing.flatMap { try Self.numbers(prefix, in: $0, files) }).sorted()
  }

  /// The folders for bundles that this replica made: the archive, `sent` and the outbox.
  private var placesOfOutgoing: [String] { [folder.archive, folder.sent, folder.outbox] }

  /// The highest number of the existing files of bundles that this replica made; 0 if there are none.
  public func highestOutgoing(_ prefix: String) throws -> Int64 {
    try placesOfOutgoing.map { place in
      // Only the last files are checked. After a year of exports a check of each file would be too slow.
      try Self.numbers(prefix, in: place, files).last { number in
        try files.kind(Paths.join(place, "\(prefix)\(number).satchel")) == .file
      } ?? 0
    }.max() ?? 0
  }

  /// Removes the files in the archive that are named `prefix` and a number below `number`.
  public func forget(_ prefix: String, below number: Int64) throws {
    for old in try numbers(prefix) where old < number { try files.remove(path(prefix, old)) }
  }

  /// Moves the files that are named `prefix` and a number other than `kept` to the folder `former`. No import reads
  /// that folder, but a person can.
  public func setAside(_ prefix: String, but kept: Int64?) throws {
    for old in try numbers(prefix) where old != kept { try setAside(prefix, old) }
  }

  /// Moves the file that is named `prefix` and `number` to the folder `former`.
  public func setAside(_ prefix: String, _ number: Int64) throws {
    try setAside(path(prefix, number))
  }

  /// Moves a file to the folder `former`. If a file there has the same name, the moved file is named
  /// `NAME+2.satchel`, `NAME+3.satchel` and so on.
  public func setAside(_ path: String) throws {
    try files.makeDirectory(folder.former, mode: 0o755)
    let name = Paths.name(of: path)
    var target = Paths.join(folder.former, name)
    var copy = 2
    while try files.kind(target) != nil {
      target = Paths.join(folder.former, "\(name.dropLast(Self.end.count))+\(copy)\(Self.end)")
      copy += 1
    }
    try files.rename(path, to: target)
  }

  private static let end = ".satchel"

  private static func numbers(_ prefix: String, in folder: String, _ files: any FileSystem) throws -> [Int64] {
    guard try files.kind(folder) == .directory else { return [] }
    return try files.list(folder).compactMap { number(in: $0, prefix) }.sorted()
  }

  /// The number in a file name that consists of `prefix`, a number and `.satchel`; nil for other names.
  public static func number(in name: String, _ prefix: String) -> Int64? {
    guard name.hasPrefix(prefix), name.hasSuffix(end), name.utf8.count > prefix.utf8.count + end.utf8.count else {
      return nil
    }
    let digits = name.utf8.dropFirst(prefix.utf8.count).dropLast(end.utf8.count)
    guard digits.first != UInt8(ascii: "0"), digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(Substring(digits))
  }

  /// The number in a file name that consists of `prefix`, a number, `+`, hexadecimal digits and `.satchel`; nil for
  /// other names. A file has such a name because another file had the same number.
  public static func formerNumber(in name: String, _ prefix: String) -> Int64? {
    guard name.hasSuffix(end), let sign = name.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
    let copy = name.utf8[name.utf8.index(after: sign)...].dropLast(end.utf8.count)
    guard !copy.isEmpty, copy.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
    return number(in: name[..<sign] + end, prefix)
  }
}
