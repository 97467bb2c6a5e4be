import SatchelPlatform
import SatchelWorkspace

/// A stick that takes volumes of a bundle, because the whole bundle is larger than the stick.
struct StickVolumes: VolumeMedium {
  private let stick: Stick
  private let receiver: String
  let room: Int64

  /// Throws if the stick has no room for the smallest volume.
  /// - Parameter bundle: the file of the whole bundle.
  init(of bundle: String, on stick: Stick, to receiver: String) throws {
    (self.stick, self.receiver) = (stick, receiver)
    room = try stick.room()
    if room < BundleVolumes.leastBytes, try !stick.holdsVolumes(of: Paths.name(of: bundle), to: receiver) {
      try stick.checkRoom(for: bundle, to: receiver)
    }
  }

  func holdsVolumes(of whole: String) throws -> Bool { try stick.holdsVolumes(of: whole, to: receiver) }

  func put(_ file: String, named name: String) throws -> Bool {
    guard try stick.platform.files.size(file) <= stick.room() else { return false }
    try stick.put(volume: file, named: name, to: receiver)
    return true
  }
}

/// The volumes of one bundle that a sync put on a stick.
struct PutVolumes {
  let parts: Int64
  /// The numbers of the volumes that were put on this stick now.
  let put: [Int64]
  /// The numbers of the volumes that no stick has yet.
  let missing: [Int64]

  /// - Parameter before: the numbers of the volumes that sticks had before; empty if a new round began.
  init(_ carried: CarriedVolumes, before: Set<Int64>) {
    (parts, missing) = (carried.parts, carried.missing)
    put = carried.put.subtracting(before).sorted()
  }

  var words: String {
    let now = put.isEmpty ? "" : " \(Self.volumes(put)) of \(parts) \(put.count == 1 ? "is" : "are") on it now."
    if missing.isEmpty { return " It is larger than a stick.\(now) Sticks have all its volumes: carry all of them." }
    return " It is larger than this stick.\(now) Still to come: \(Self.volumes(missing).lowercased())."
  }

  /// The numbers in words: `Volumes 2 to 5`.
  private static func volumes(_ numbers: [Int64]) -> String {
    guard let first = numbers.first, let last = numbers.last, first != last else {
      return "Volume \(numbers.first ?? 0)"
    }
    if last - first + 1 == Int64(numbers.count) { return "Volumes \(first) to \(last)" }
    let more = numbers.count > 10 ? " and \(numbers.count - 10) more" : ""
    return "Volumes \(numbers.prefix(10).map(String.init).joined(separator: ", "))\(more)"
  }
}
