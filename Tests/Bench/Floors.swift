import Foundation

/// The least of each work, in C: what remains when nothing is merged, kept or watched.
enum Floors {
  /// A shell's command that compiles them into a file.
  static func compile(_ output: String) -> String {
    let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "floors.c").path
    return "cc -O2 -o \(output) '\(source)' -lsqlite3 -lsodium -lzstd"
  }
}

/// The times of one piece of work, in seconds, and what they are held against: in each round all of them were taken one after the other.
struct Measured {
  static let heads = [
    "what", "Satchel", "by hand", "ratio", "limit", "C floor", "ratio", "limit", "memory", "bundle KiB", "by hand", "",
  ]

  let what: String
  /// Of our time to the script's, and to the floor's; nil: none was set.
  let limit: Double?
  let floorLimit: Double?
  var ours: [Double] = []
  var byHand: [Double] = []
  var floor: [Double] = []
  /// The most that we needed, in MiB.
  var memory: Double?
  /// Of our bundle and the script's, in KiB.
  var sizes: (ours: Double, byHand: Double)?

  init(_ what: String, limit: Double?, floorLimit: Double?) {
    self.what = what
    self.limit = limit
    self.floorLimit = floorLimit
  }

  /// The median of the rounds' ratios.
  private func ratio(to others: [Double]) -> Double? { others.isEmpty ? nil : median(zip(ours, others).map { $0 / $1 }) }

  private var isOver: Bool {
    (ratio(to: byHand) ?? 0) > limit ?? .infinity || (ratio(to: floor) ?? 0) > floorLimit ?? .infinity || memory ?? 0 > 64
      || sizes.map { $0.ours > $0.byHand } ?? false
  }

  var cells: [String] {
    func cell(_ value: Double?, _ places: Int) -> String { value.map { decimal($0, places) } ?? "" }
    func time(_ times: [Double]) -> String { times.isEmpty ? "" : decimal(median(times), 3) }
    return [
      what, time(ours), time(byHand), cell(ratio(to: byHand), 2), cell(limit, 2), time(floor), cell(ratio(to: floor), 2),
      cell(floorLimit, 1), cell(memory, 0), cell(sizes?.ours, 0), cell(sizes?.byHand, 0), isOver ? "over" : "",
    ]
  }
}
