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
    ) { volume, name in
      let path = Paths.join(target ?? folder.outbox, name)
      if target == nil {
        try platform.files.rename(volume, to: path)
      } else {
        try platform.files.deliver(volume, to: path, mode: 0o644)
      }
      paths.append(path)
    }
    if target == nil, Paths.parent(of: file) == folder.outbox {
      try platform.files.rename(file, to: Paths.join(folder.sent, Paths.name(of: file)))
    }
    return paths
  }

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
  }
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
