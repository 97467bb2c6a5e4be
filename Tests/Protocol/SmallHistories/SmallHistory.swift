import Testing

/// One event of a small history.
enum SmallEvent: Hashable {
  /// A device makes the next write of its word.
  case write(Int)
  /// A device sets column `a` back to its first value.
  case setBack(Int)
  case export(Int)
  /// The hub imports a device's newest export, or its second newest.
  case deliver(Int, isOlder: Bool)
  case emit(Int)
  /// A device imports the hub's newest emission for it.
  case answer(Int)

  /// `up`: a device exports, and the hub imports the export. `down`: the hub emits, and the device imports the
  /// emission.
  static func up(_ device: Int) -> [SmallEvent] { [.export(device), .deliver(device, isOlder: false)] }
  static func down(_ device: Int) -> [SmallEvent] { [.emit(device), .answer(device)] }
}

/// An order of events, with a name that describes it.
struct SmallSchedule: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let events: [SmallEvent]

  /// All possible words of a device's writes in this schedule. After a delete, only an insert has an effect, until an
  /// emission may bring the row back.
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

  /// - Parameter text: the events, separated by spaces. `a`: the device A writes. `a-`: A sets column `a` back. `EA`: A
  ///   exports. `IA`: the hub imports A's newest export. `IA-`: the hub imports A's second newest export. `MA`: the hub
  ///   emits for A. `RA`: A imports this emission. `UA` and `DA` are the two events `up` and `down`.
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

  /// Orders in which bundles arrive late, twice or in another order, or do not arrive.
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

  /// All orders of so many writes and trips of a stick. If orders differ only in the following ways, one of them is
  /// enough: the devices are exchanged, two events on different replicas are exchanged, or a stick makes a trip without
  /// carrying anything new.
  static func all(depth: Int) -> [SmallSchedule] {
    let words = ["a", "b", "DA", "DB", "UA", "UB"]
    var found: [SmallSchedule] = []
    func extend(_ prefix: [String]) {
      if prefix.count == depth {
        // At the end of a history both devices deliver anyway.
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

  /// Whether the stick carries something new on the trip `word`. Down, it carries what a device delivered since the
  /// last trip of this kind. Up, it carries the device's writes, or the statement that the device has a newer emission.
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
  /// The device inserts the row, for the first time or again.
  case make = "I"
  /// The device sets column `a` back to its first value.
  case setBack = "0"

  /// The writes of which all combinations are played.
  static let free: [SmallWrite] = [.a, .b, .delete, .make]
}
