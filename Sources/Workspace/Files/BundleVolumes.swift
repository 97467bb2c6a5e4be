import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Cuts bundles that this replica made into volumes.
public struct BundleVolumes {
  /// The smallest size of a volume's file. A smaller file would consist mostly of manifest and signature.
  public static let leastBytes: Int64 = 64 << 10

  private let folder: WorkspaceFolder
  private let platform: Platform
  private let reader: BundleReader

  public init(_ folder: WorkspaceFolder, reader: BundleReader, platform: Platform) {
    self.folder = folder
    self.platform = platform
    self.reader = reader
  }

  /// Cuts a bundle that this replica made, if its file is larger than `size`. Returns the paths of the volumes; empty
  /// if the file fits.
  ///
  /// If the volumes go into the outbox, they replace the bundle there, and the bundle moves to `sent`.
  /// - Parameters:
  ///   - parity: the number of parity volumes.
  ///   - target: the folder for the volumes; nil means the outbox.
  ///   - trust: the public keys that may have signed the bundle.
  ///   - recipients: returns the age recipients of the volumes. It is called only if the bundle is encrypted.
  public func cut(
    _ file: String, size: Int64, parity: ParityShare, into target: String?, trust: [PublicKey],
    key: borrowing SigningKey, recipients: () throws -> [AgeRecipient]
  ) throws -> [String] {
    if try platform.files.size(file) <= size { return [] }
    if target == nil { try removeVolumes(of: Paths.name(of: file)) }
    var paths: [String] = []
    try VolumeCutter(reader: reader, platform: platform).cut(
      file, size: size, parity: parity, in: folder.outbox, trust: trust, key: key,
      for: reader.isEncrypted(file) ? recipients() : []
    ) { volume in
      let path = Paths.join(target ?? folder.outbox, volume.name)
      if target == nil {
        try platform.files.rename(volume.file, to: path)
      } else {
        try platform.files.deliver(volume.file, to: path, mode: 0o644)
      }
      paths.append(path)
      return .goOn
    }
    if target == nil, Paths.parent(of: file) == folder.outbox {
      try platform.files.rename(file, to: Paths.join(folder.sent, Paths.name(of: file)))
    }
    return paths
  }

  /// Puts as many volumes of a bundle on a medium as fit, and records which ones.
  ///
  /// Begins with the volumes that no medium has yet. If media have all volumes and this medium has none, it gets
  /// volumes again, because another stick may be lost.
  /// - Parameters:
  ///   - medium: the medium and its room.
  ///   - parity: the number of parity volumes, which come after the others. If media already carry volumes of the
  ///     bundle, this number cannot fall.
  ///   - trust: the public keys that may have signed the bundle.
  ///   - recipients: returns the age recipients of the volumes. It is called only if the bundle is encrypted.
  public func put(
    _ file: String, on medium: some VolumeMedium, parity: ParityShare, trust: [PublicKey], key: borrowing SigningKey,
    recipients: () throws -> [AgeRecipient]
  ) throws -> CarriedVolumes {
    let (name, record) = (Paths.name(of: file), CarriedVolumesFile(folder, platform.files))
    let known = try record.list().first { $0.whole == name }?.adding(parity)
    if let known, known.missing.isEmpty, try medium.holdsVolumes(of: name) { return known }
    let share = known.map { ParityShare.volumes($0.parity) } ?? parity
    let size = try known?.size ?? volumeSize(for: medium, of: file, share)
    let before = known.map { $0.missing.isEmpty ? [] : $0.put } ?? []
    var now: Set<Int64> = []
    func isWanted(_ part: Int64) -> Bool { !before.contains(part) }
    let parts = try VolumeCutter(reader: reader, platform: platform).cut(
      file, size: size, parity: share, in: folder.outbox, trust: trust, key: key,
      for: reader.isEncrypted(file) ? recipients() : [], isWanted: isWanted
    ) { volume in
      guard try medium.put(volume.file, named: volume.name) else { return .stop }
      now.insert(volume.part)
      return .goOn
    }
    let carried = CarriedVolumes(
      whole: name, size: size, parts: parts, parity: share.count(for: parts), put: before.union(now), now: now)
    if !now.isEmpty || known != nil { try record.save(carried) }
    return carried
  }

  /// The size of each volume if `medium` is the first medium of this bundle.
  private func volumeSize(for medium: some VolumeMedium, of file: String, _ parity: ParityShare) throws -> Int64 {
    let least = try VolumeCutter.size(of: platform.files.size(file), with: parity)
    return max(min(medium.room / Self.mostOnOne, Self.mostBytes), Self.leastBytes, least)
  }

  /// At least this number of volumes fits on a stick of the first stick's size. With larger volumes a smaller stick
  /// might hold none.
  private static let mostOnOne: Int64 = 8
  /// The largest size of a volume that Satchel chooses itself. A person may choose a larger one.
  private static let mostBytes: Int64 = 1 << 30

  private func removeVolumes(of name: String) throws {
    for volume in try platform.files.list(folder.outbox) where VolumeName(volume)?.whole == name {
      try platform.files.remove(Paths.join(folder.outbox, volume))
    }
  }

  /// Removes volumes from the outbox whose bundle is named `prefix` and a number below `number`. The bundle can be
  /// cut again later.
  public static func remove(_ prefix: String, below number: Int64, folder: WorkspaceFolder, files: any FileSystem)
    throws
  {
    for name in try files.list(folder.outbox) {
      guard let found = VolumeName(name)?.number(prefix), found < number else { continue }
      try files.remove(Paths.join(folder.outbox, name))
    }
    try CarriedVolumesFile(folder, files).forget { BundleArchive.number(in: $0, prefix).map { $0 < number } ?? false }
  }
}

/// A medium that can hold volumes of a bundle.
public protocol VolumeMedium {
  /// The bytes that are free for volumes.
  var room: Int64 { get }
  /// Whether the medium holds any volume of a bundle.
  /// - Parameter whole: the file name of the whole bundle.
  func holdsVolumes(of whole: String) throws -> Bool
  /// Puts a volume on the medium. If the volume does not fit, returns false and writes nothing.
  func put(_ file: String, named name: String) throws -> Bool
}

/// The parts of a volume's file name. The name only helps to find volumes: the signed manifest says what a file is.
struct VolumeName {
  /// The file name of the whole bundle.
  let whole: String
  let isParity: Bool

  /// nil if `name` is not the name of a volume.
  init?(_ name: String) {
    let words = name.split(separator: "-", omittingEmptySubsequences: false)
    guard let last = words.last, words.count > 3, last.hasSuffix(".satchel") else { return nil }
    isParity = last.hasPrefix("p")
    let numbers = last.dropFirst(isParity ? 1 : 0).dropLast(".satchel".utf8.count)
      .split(separator: "o", omittingEmptySubsequences: false)
    guard numbers.count == 2, numbers[1].first == "f", Int64(numbers[0]) != nil, Int64(numbers[1].dropFirst()) != nil
    else {
      return nil
    }
    whole = words.dropLast().joined(separator: "-") + ".satchel"
  }

  /// The number of the whole bundle; nil if the bundle's name is not `prefix`, a number and `.satchel`.
  func number(_ prefix: String) -> Int64? { BundleArchive.number(in: whole, prefix) }
}

/// Reads the file names of bundles and volumes.
public enum BundleName {
  /// The file name of the whole bundle; nil if `name` is not the name of a volume.
  public static func whole(ofVolume name: String) -> String? { VolumeName(name)?.whole }

  /// Whether `name` has the form of a name of a bundle or volume in this dataset. Examples are
  /// `camp-tablet-hub-1.satchel` and `camp-tablet-hub-1-2of5.satchel`. The file is not opened, because a stick may
  /// hold very many files.
  public static func fits(_ name: String, dataset: String) -> Bool {
    guard name.utf8.count <= mostBytes, name.utf8.starts(with: "\(dataset)-".utf8) else { return false }
    let whole = VolumeName(name)?.whole ?? name
    guard whole.utf8.reversed().starts(with: ".satchel".utf8.reversed()) else { return false }
    let number = whole.utf8.dropLast(".satchel".utf8.count).split(separator: UInt8(ascii: "-")).last
    return number.map { $0.count < 20 && $0.allSatisfy { (48...57).contains($0) } } ?? false
  }

  /// Whether `name` is the name of a parity volume. An example is `camp-tablet-hub-1-p1of2.satchel`.
  public static func isOfParity(_ name: String) -> Bool { VolumeName(name)?.isParity ?? false }

  /// Whether `name` ends like the name of a bundle for this receiver. The name of another receiver may have the same
  /// end: `tablet` and `old-tablet`, for example.
  public static func endsFor(_ receiver: String, _ name: String) -> Bool {
    stem(of: name).hasSuffix("-\(receiver)")
  }

  /// Whether a name for which `endsFor` is true can only be for this receiver. That is so if the rest, the sender's
  /// name, has no hyphen.
  public static func fitsOnly(_ receiver: String, _ name: String, dataset: String) -> Bool {
    !stem(of: name).dropFirst("\(dataset)-".count).dropLast("-\(receiver)".count).contains("-")
  }

  /// The receiver's name in a bundle's name; nil if `name` is not the name of a bundle from `sender`.
  public static func receiver(of name: String, from sender: String, dataset: String) -> String? {
    let (stem, beginning) = (stem(of: name), "\(dataset)-\(sender)-")
    return stem.hasPrefix(beginning) && stem.count > beginning.count ? String(stem.dropFirst(beginning.count)) : nil
  }

  /// The part of a bundle's name before its number: the names of the dataset, the sender and the receiver.
  private static func stem(of name: String) -> String {
    (VolumeName(name)?.whole ?? name).split(separator: "-").dropLast().joined(separator: "-")
  }

  /// Room for three names of at most 40 bytes each, for the numbers and for the ending.
  private static let mostBytes = 200
}
