import SatchelJSON
import TestSupport

/// Changes values in JSON. It replaces a value by a random value of the same kind or by a foreign value, or removes it.
struct TreeMutator {
  private var numbers: Mutator
  /// The foreign values that may replace a value.
  private let values: [JSONValue]

  init(seed: UInt64, values: [JSONValue]) { (numbers, self.values) = (Mutator(seed: seed), values) }

  mutating func number(below limit: Int) -> Int { numbers.number(below: limit) }

  mutating func choice<T>(of values: [T]) -> T { values[number(below: values.count)] }

  /// Returns the value with one to three changes.
  mutating func mutated(_ value: JSONValue) -> JSONValue {
    var result = value
    for _ in 0..<(number(below: 3) == 0 ? 3 : 1) {
      var place = number(below: result.nodes - 1) + 1
      result = result.replacing(at: &place) { changed($0) } ?? result
    }
    return result
  }

  /// Returns a replacement for the value; nil: the value is removed.
  mutating func changed(_ value: JSONValue) -> JSONValue? {
    switch number(below: 10) {
    case 0: return nil
    case 1: return choice(of: values)
    case 2, 3: return near(value)
    default: return choice(of: values.filter { $0.isLike(value) } + [value])
    }
  }

  private mutating func near(_ value: JSONValue) -> JSONValue {
    switch value {
    case .integer(let number): return .integer(number &+ choice(of: [-1, 1, 2, 1000, 1_000_000]))
    case .string(let text):
      let bytes = Array(text.utf8)
      var changed = bytes
      if !bytes.isEmpty { changed[number(below: bytes.count)] = UInt8(48 + number(below: 75)) }
      return .string(String(decoding: changed, as: UTF8.self))
    case .bool(let truth): return .bool(!truth)
    case .array(let elements): return .array(elements + elements)
    case .object(var members):
      members.set("author", choice(of: values))
      return .object(members)
    default: return choice(of: values)
    }
  }
}

extension JSONValue {
  /// The number of values in this value, including itself.
  var nodes: Int {
    switch self {
    case .array(let elements): elements.reduce(1) { $0 + $1.nodes }
    case .object(let members): members.reduce(1) { $0 + $1.value.nodes }
    default: 1
    }
  }

  /// Whether both values are of the same kind.
  func isLike(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.null, .null), (.bool, .bool), (.integer, .integer), (.real, .real), (.string, .string), (.array, .array),
      (.object, .object):
      true
    default: false
    }
  }

  /// Replaces the value at this position, counted in the order of the text. Returns nil if nothing is left.
  fileprivate func replacing(at place: inout Int, by change: (JSONValue) -> JSONValue?) -> JSONValue? {
    if place < 0 { return self }
    place -= 1
    if place < 0 { return change(self) }
    switch self {
    case .array(let elements): return .array(elements.compactMap { $0.replacing(at: &place, by: change) })
    case .object(let members):
      return .object(
        members.compactMap { member in
          member.value.replacing(at: &place, by: change).map { .init(name: member.name, value: $0) }
        })
    default: return self
    }
  }
}
