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
  /// The number of parity volumes. Their numbers follow `parts`.
  let parity: Int64
  /// The numbers of the volumes that were put on this stick now.
  let put: [Int64]
  /// The numbers of the volumes that no stick has yet.
  let missing: [Int64]

  init(_ carried: CarriedVolumes) {
    (parts, parity, missing) = (carried.parts, carried.parity, carried.missing)
    put = carried.now.sorted()
  }

  var words: String {
    let now = put.isEmpty ? "" : " \(list(put)) of \(parts + parity) \(put.count == 1 ? "is" : "are") on it now."
    let enough = parity > 0 ? " Any \(parts) of the \(parts + parity) are enough." : ""
    if missing.isEmpty {
      return " It is larger than a stick.\(now) Sticks have all its volumes: carry all of them.\(enough)"
    }
    return " It is larger than this stick.\(now)\(enough) Still to come: \(list(missing).lowercased())."
  }

  /// The numbers in words: `Volumes 2 to 5`. A parity volume has the number that its file name has: `p1`.
  private func list(_ numbers: [Int64]) -> String {
    let names = numbers.map { $0 > parts ? "p\($0 - parts)" : String($0) }
    guard let first = numbers.first, let last = numbers.last, first != last else {
      return "Volume \(names.first ?? "0")"
    }
    if last - first + 1 == Int64(numbers.count) { return "Volumes \(names[0]) to \(names[names.count - 1])" }
    let more = names.count > 10 ? " and \(names.count - 10) more" : ""
    return "Volumes \(names.prefix(10).joined(separator: ", "))\(more)"
  }
}
