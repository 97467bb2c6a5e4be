import SatchelBundle
import SatchelPlatform
import SatchelValues

/// The limits for pieces of incomplete bundles.
public struct BundlePartsLimits: Sendable {
  /// The limit for one sender, in bytes.
  let ofOne: Int64
  /// The limit for all senders, in bytes.
  let ofAll: Int64

  /// The most incomplete bundles of one sender. If one bundle was cut into pieces of several sizes, each size counts.
  static let mostWholes = 8
  /// The bytes that must stay free on the medium for other programs.
  public static let leastFree: Int64 = 1 << 30
  static let keptDays: Int64 = 90

  /// - Parameter bytes: the largest expected size of one sender's bundle. The limit allows two bundles of this size,
  ///   because two may be on their way on different sticks.
  public init(ofBundlesWith bytes: Int64) {
    ofOne = 2 * max(bytes, 2 << 30)
    ofAll = 4 * ofOne
  }

  /// - Parameter bytes: the size of the volume's file.
  static func mostBytes(ofPieceIn bytes: Int64) -> Int64 { (1 << 20) + 4 * bytes }
}

extension BundleParts {
  /// Throws a `Refusal` if there is no room for one more piece. First deletes pieces that are too old. If too many
  /// bundles of the sender wait, the pieces of its oldest bundle are deleted too: a newer bundle contains the changes
  /// of an older one.
  func makeRoom(
    for bytes: Int64, at place: String, of manifest: Manifest, within limits: BundlePartsLimits
  ) throws {
    try forgetOld()
    var all = try waiting()
    let sender = PartsSender(
      manifest.from.id, named: [manifest.from.name], dataset: manifest.dataset, to: manifest.to.name)
    func number(_ waiting: Waiting) -> Int64? { sender.number(of: waiting) }
    let own = all.filter { $0.path != place && number($0) != nil }.sorted { number($0) ?? 0 < number($1) ?? 0 }
    if own.count >= BundlePartsLimits.mostWholes, let oldest = own.first {
      guard number(oldest) ?? 0 <= manifest.wholeNumber else { throw Self.full(manifest) }
      try platform.files.removeTree(oldest.path)
      all.removeAll { $0.path == oldest.path }
    }
    let ofSender = all.filter { number($0) != nil }.reduce(bytes) { $0 + $1.bytes }
    let free = try platform.files.freeBytes(Paths.parent(of: root))
    guard ofSender <= limits.ofOne, all.reduce(bytes, { $0 + $1.bytes }) <= limits.ofAll,
      bytes + BundlePartsLimits.leastFree <= free
    else { throw Self.full(manifest) }
  }

  private static func full(_ manifest: Manifest) -> Refusal {
    Refusal(
      .volumesFull, "There is no more room for pieces of incomplete bundles from \(manifest.from.name).",
      hint:
        """
        status lists the bundles and their missing volumes. Bring those, or delete the pieces that are not needed \
        any more: bundles/inbox/parts
        """
    )
  }

  /// Deletes pieces to which no other piece was added for `keptDays`.
  public func forgetOld() throws {
    for waiting in try waiting() {
      guard let last = try lastDay(in: waiting.path) else {
        // An earlier release did not record the day of these pieces.
        try noteDay(in: waiting.path)
        continue
      }
      if today - last > BundlePartsLimits.keptDays { try platform.files.removeTree(waiting.path) }
    }
  }

  /// Today's date in UTC by this machine's clock, in days since 1970.
  private var today: Int64 { platform.clock.milliseconds() / 86_400_000 }

  private static let dayPrefix = "day-"

  /// The day when the last piece came, from the name of a file beside the pieces; nil if no day is recorded.
  private func lastDay(in place: String) throws -> Int64? {
    try platform.files.list(place).compactMap { name in
      name.hasPrefix(Self.dayPrefix) ? Int64(name.dropFirst(Self.dayPrefix.count)) : nil
    }.max()
  }

  /// Records that a piece of this bundle came today.
  func noteDay(in place: String) throws {
    let name = "\(Self.dayPrefix)\(today)"
    let all = try platform.files.list(place).filter { $0.hasPrefix(Self.dayPrefix) }
    if all.contains(name) { return }
    try platform.files.replace(Paths.join(place, name), mode: 0o644, contents: [])
    for former in all { try platform.files.remove(Paths.join(place, former)) }
  }
}
