import Testing

/// The events of a small history, in order.
enum SmallEvent: Hashable {
  /// A device makes its next write.
  case write(Int)
  /// A device gives column `a` the value that it had in the beginning.
  case setBack(Int)
  case export(Int)
  /// The hub imports a device's newest export, or the one before it.
  case deliver(Int, isOlder: Bool)
  case emit(Int)
  /// A device imports the hub's newest emission for it.
  case answer(Int)

  /// A device exports, and the hub imports that; the hub emits, and the device imports that.
  static func up(_ device: Int) -> [SmallEvent] { [.export(device), .deliver(device, isOlder: false)] }
  static func down(_ device: Int) -> [SmallEvent] { [.emit(device), .answer(device)] }
}

/// An order of events, with a name that describes it.
struct SmallSchedule: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let events: [SmallEvent]

  /// All words of a device's writes. After a delete only an insert writes anything, until an emission may bring the row
  /// back.
  func words(of device: Int) -> [[SmallWrite]] {
    var words: [(writes: [SmallWrite], isGone: Bool)] = [([], false)]
    for event in events {
      if event == .answer(device) { words = words.map { ($0.writes, false) } }
      if event == .setBack(device) { words = words.map { ($0.writes + [.setBack], $0.isGone) } }
      guard event == .write(device) else { continue }
      words = words.flatMap { word in
        (word.isGone ? [.make] : SmallWrite.free).map { (word.writes + [$0], $0 == .delete) }
      }
    }
    return words.map(\.writes)
  }

  init(_ name: String, _ events: [SmallEvent]) {
    testDescription = name
    self.events = events
  }

  /// - Parameter text: words such as `a` (the device A writes), `a-` (it sets column `a` back), `EA` (it exports), `IA`
  ///   (the hub imports the newest export), `IA-` (the one before it), `MA` (the hub emits for it), `RA` (it imports
  ///   that), `UA` and `DA` (both steps of one way).
  init(_ name: String, words text: String) {
    self.init("\(name): \(text)", text.split(separator: " ").flatMap { Self.events(String($0)) })
  }

  private static func events(_ word: String) -> [SmallEvent] {
    let device = word.lowercased().contains("b") ? 1 : 0
    switch word.first {
    case "E": return [.export(device)]
    case "I": return [.deliver(device, isOlder: word.hasSuffix("-"))]
    case "M": return [.emit(device)]
    case "R": return [.answer(device)]
    case "U": return SmallEvent.up(device)
    case "D": return SmallEvent.down(device)
    default: return [word.hasSuffix("-") ? .setBack(device) : .write(device)]
    }
  }

  /// Orders in which bundles are late, lost, repeated, overtaken or missing.
  static let troubled: [SmallSchedule] = [
    SmallSchedule("late", words: "a a b b EA EB IA IB MA MB RA RB"),
    SmallSchedule("between", words: "a EA IA a b EB IB b MA MB RA RB EB IB EA IA"),
    SmallSchedule("rebased", words: "a EA IA b MB RB b EB IB a MA RA"),
    SmallSchedule("lost", words: "a EA a b EB IB MA RA EA b IA EB IB"),
    SmallSchedule("stale", words: "a EA b EB IB a MA RA EA IA IA- b MB RB EB IB"),
    SmallSchedule("gap", words: "a EA IA MA a b EB IB b EA IA MA MB RA RB"),
    SmallSchedule("old emission", words: "b EB IB MA a EA IA MB b RA a RB EB IB EA IA"),
    SmallSchedule("twice", words: "a EA IA IA b EB IB MA MA RA a RA EA b EB IB IA IB"),
    SmallSchedule("meets two", words: "b UB b EB a a DA IB UA"),
  ]

  /// All orders with this many writes and ways of a stick. Orders that differ only by exchanging the devices count
  /// once. So do orders that differ only in the order of two events on different replicas, and orders that differ only
  /// by ways on which the stick carries nothing new.
  static func all(depth: Int) -> [SmallSchedule] {
    let words = ["a", "b", "DA", "DB", "UA", "UB"]
    var found: [SmallSchedule] = []
    func extend(_ prefix: [String]) {
      if prefix.count == depth {
        // In the end both devices deliver in any case.
        let isNew = prefix.contains("b") && prefix.last?.first != "U"
        if isNew { found.append(SmallSchedule("all", words: prefix.joined(separator: " "))) }
        return
      }
      for word in words where prefix.isEmpty ? word == "a" : carriesNews(word, after: prefix) {
        if let last = prefix.last, word < last, !touchOneReplica(last, word) { continue }
        extend(prefix + [word])
      }
    }
    extend([])
    return found
  }

  /// Whether a stick carries something new on its way `word`: down, what a device delivered since this way was last
  /// taken; up, what the device wrote, or that it has a newer emission.
  private static func carriesNews(_ word: String, after prefix: [String]) -> Bool {
    guard word.count > 1, let device = word.last else { return true }
    let since = prefix.lastIndex(of: word).map { prefix[($0 + 1)...] } ?? prefix[...]
    if word.hasPrefix("D") { return since.contains { $0.hasPrefix("U") } }
    return since.contains("D\(device)") || since.contains(device.lowercased())
  }

  private static func touchOneReplica(_ one: String, _ other: String) -> Bool {
    one.uppercased().last == other.uppercased().last || one.count > 1 && other.count > 1
  }
}

/// A device's write to a row.
enum SmallWrite: String {
  case a, b
  case delete = "X"
  /// It inserts the row, for the first time or again.
  case make = "I"
  /// It gives column `a` the value that it had in the beginning.
  case setBack = "0"

  /// The writes of which all words are played.
  static let free: [SmallWrite] = [.a, .b, .delete, .make]
}
