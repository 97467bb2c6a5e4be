import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// Cuts bundles that were made here into volumes.
public struct BundleVolumes {
  /// The smallest size of a volume's file: a smaller one would be mostly overhead.
  public static let leastBytes: Int64 = 64 << 10

  private let folder: WorkspaceFolder
  private let platform: Platform
  private let reader: BundleReader

  public init(_ folder: WorkspaceFolder, reader: BundleReader, platform: Platform) {
    self.folder = folder
    self.platform = platform
    self.reader = reader
  }

  /// Cuts a bundle that was made here, if its file is larger than `size`. Returns the volumes' paths; empty: the file
  /// fits.
  ///
  /// Volumes in the outbox replace the bundle there, and the bundle moves to `sent`.
  /// - Parameters:
  ///   - parity: the number of parity volumes.
  ///   - target: the folder for the volumes; nil: the outbox.
  ///   - trust: all keys with which the bundle may be signed.
  ///   - recipients: returns the recipients of the volumes. It is called only if the bundle is encrypted.
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

  /// Puts the volumes of a bundle on a medium, as many as fit, and records which.
  ///
  /// Goes on with the volumes that no medium has yet. If media have all volumes, and this medium has none of them,
  /// another round begins: a stick may be lost.
  /// - Parameters:
  ///   - medium: the medium and its room.
  ///   - parity: the number of parity volumes, which come last. If media carry volumes of the bundle already, the
  ///     number may only grow.
  ///   - trust: all keys with which the bundle may be signed.
  ///   - recipients: returns the recipients of the volumes. It is called only if the bundle is encrypted.
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

  /// The size of each volume, if `medium` is the first medium for the bundle.
  private func volumeSize(for medium: some VolumeMedium, of file: String, _ parity: ParityShare) throws -> Int64 {
    let least = try VolumeCutter.size(of: platform.files.size(file), with: parity)
    return max(min(medium.room / Self.mostOnOne, Self.mostBytes), Self.leastBytes, least)
  }

  /// So many volumes go on a stick of the first stick's size. If they were larger, smaller sticks could not help.
  private static let mostOnOne: Int64 = 8
  /// The largest volume that is chosen without a person's word.
  private static let mostBytes: Int64 = 1 << 30

  private func removeVolumes(of name: String) throws {
    for volume in try platform.files.list(folder.outbox) where VolumeName(volume)?.whole == name {
      try platform.files.remove(Paths.join(folder.outbox, volume))
    }
  }

  /// Removes volumes from the outbox if their bundle is named `prefix` and a number below `number`. The bundle can be
  /// cut again.
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

/// A medium that takes volumes of a bundle.
public protocol VolumeMedium {
  /// The free bytes for volumes.
  var room: Int64 { get }
  /// Whether the medium has any volume of a bundle.
  func holdsVolumes(of whole: String) throws -> Bool
  /// Puts a volume on the medium. Returns false, and does nothing, if the volume does not fit.
  func put(_ file: String, named name: String) throws -> Bool
}

/// The parts of a volume's file name. The name only helps to find the file. The file's manifest says what the file is.
struct VolumeName {
  /// The file name of the whole bundle.
  let whole: String
  let isParity: Bool

  /// nil: the name is not the name of a volume.
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

  /// The number of the whole bundle, if its name is `prefix` and a number.
  func number(_ prefix: String) -> Int64? { BundleArchive.number(in: whole, prefix) }
}

/// Checks the names of bundles and volumes.
public enum BundleName {
  /// The name of the whole bundle, if this is the name of a volume.
  public static func whole(ofVolume name: String) -> String? { VolumeName(name)?.whole }

  /// Whether a bundle of a dataset could have this name: `camp-tablet-hub-1.satchel`, `camp-tablet-hub-1-2of5.satchel`.
  /// The check is cheap: a stick may hold very many files.
  public static func fits(_ name: String, dataset: String) -> Bool {
    guard name.utf8.count <= mostBytes, name.utf8.starts(with: "\(dataset)-".utf8) else { return false }
    let whole = VolumeName(name)?.whole ?? name
    guard whole.utf8.reversed().starts(with: ".satchel".utf8.reversed()) else { return false }
    let number = whole.utf8.dropLast(".satchel".utf8.count).split(separator: UInt8(ascii: "-")).last
    return number.map { $0.count < 20 && $0.allSatisfy { (48...57).contains($0) } } ?? false
  }

  /// Whether this is the name of a parity volume: `camp-tablet-hub-1-p1of2.satchel`.
  public static func isOfParity(_ name: String) -> Bool { VolumeName(name)?.isParity ?? false }

  /// Whether a bundle's name ends as the name of a bundle for this receiver does. A longer name of another receiver may
  /// end in the same way.
  public static func endsFor(_ receiver: String, _ name: String) -> Bool {
    stem(of: name).hasSuffix("-\(receiver)")
  }

  /// Whether a bundle's name, which ends as `endsFor` says, fits no other receiver: its sender's name has no hyphen.
  public static func fitsOnly(_ receiver: String, _ name: String, dataset: String) -> Bool {
    !stem(of: name).dropFirst("\(dataset)-".count).dropLast("-\(receiver)".count).contains("-")
  }

  /// The receiver in the name of a sender's own bundle; nil: the name is not of such a bundle.
  public static func receiver(of name: String, from sender: String, dataset: String) -> String? {
    let (stem, beginning) = (stem(of: name), "\(dataset)-\(sender)-")
    return stem.hasPrefix(beginning) && stem.count > beginning.count ? String(stem.dropFirst(beginning.count)) : nil
  }

  /// The names of the dataset, the sender and the receiver in a bundle's name.
  private static func stem(of name: String) -> String {
    (VolumeName(name)?.whole ?? name).split(separator: "-").dropLast().joined(separator: "-")
  }

  /// Three names of at most 40 bytes, two numbers of parts, and a number.
  private static let mostBytes = 200
}
