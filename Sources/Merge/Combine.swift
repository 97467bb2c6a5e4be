import SatchelDataset
import SatchelJSON
import SatchelValues

/// Combines two values of a column by the column's rule, so that the changes of both sides count.
///
/// - Parameters:
///   - base: the value from which the device started; NULL if the device inserted the row.
///   - hub: the value in the hub's row.
///   - device: the device's new value.
/// - Returns: the combined value; nil if the values cannot be combined, for example texts in a counter. Then a person
///   decides.
public func combine(_ how: Combination, base: Value, hub: Value, device: Value) -> Value? {
  switch how {
  case .sum: sum(base, hub, device)
  case .union: union(base, hub, device)
  case .max: greater(hub, device)
  case .min: greater(hub, device).map { $0 == hub ? device : hub }
  }
}

/// Whether both sides changed a counter, and the combined value is greater than a counter can hold.
///
/// A merge of these values would lose the later change, even if both sides have the same value.
func exceeds(_ how: Combination, base: Value, hub: Value, device: Value) -> Bool {
  guard how == .sum, hub != base, device != base else { return false }
  let areNumbers = [base, hub, device].allSatisfy { number($0) != nil }
  return areNumbers && sum(base, hub, device) == nil
}

/// Combines a counter: adds the difference of the device to the hub's value. NULL counts as 0.
private func sum(_ base: Value, _ hub: Value, _ device: Value) -> Value? {
  switch (number(base), number(hub), number(device)) {
  case (.integer(let base), .integer(let hub), .integer(let device)):
    let (difference, isTooFar) = device.subtractingReportingOverflow(base)
    let (total, isTooMuch) = hub.addingReportingOverflow(difference)
    return isTooFar || isTooMuch ? nil : .integer(total)
  case (let base?, let hub?, let device?):
    let total = real(hub) + (real(device) - real(base))
    return total.isFinite ? .real(total) : nil
  default: return nil
  }
}

private enum Number {
  case integer(Int64)
  case real(Double)
}

private func number(_ value: Value) -> Number? {
  switch value {
  case .null: .integer(0)
  case .integer(let number): .integer(number)
  case .real(let number) where number.isFinite: .real(number)
  default: nil
  }
}

private func real(_ number: Number) -> Double {
  switch number {
  case .integer(let whole): Double(whole)
  case .real(let real): real
  }
}

/// The greater value; nil if the two values have no order. NULL is less than any other value.
private func greater(_ a: Value, _ b: Value) -> Value? {
  switch (a, b) {
  case (.null, _): b
  case (_, .null): a
  case (.integer, .integer), (.real, .real), (.integer, .real), (.real, .integer), (.text, .text):
    a.isBeforeInSQL(b) ? b : a
  default: nil
  }
}

/// Combines two sets, which are JSON arrays. The result lacks the elements that one side removed, and has the
/// elements that one side added. The hub's elements keep their order, and the device's new elements follow.
private func union(_ base: Value, _ hub: Value, _ device: Value) -> Value? {
  guard let before = ElementSet(base)?.elements, let theirs = ElementSet(hub)?.elements,
    let ours = ElementSet(device)?.elements
  else { return nil }
  let (known, kept) = (Set(before), Set(ours))
  let left = known.subtracting(kept)
  var merged = theirs.filter { !left.contains($0) }
  var present = Set(merged)
  for element in ours where !known.contains(element) && present.insert(element).inserted { merged.append(element) }
  if merged == theirs { return hub }
  if merged == ours { return device }
  return ElementSet(merged).value
}

/// The elements of a value in a column of sets. The value is a JSON array; NULL is an empty set.
public struct ElementSet: Sendable {
  public let elements: [JSONValue]

  /// The most elements of a set, including all nested values. Three sets are in memory at once, and an element needs
  /// many times the memory of its text.
  static let mostElements = 100_000

  init(_ elements: [JSONValue]) { self.elements = elements }

  /// nil if the value is no set, or if it has too many elements.
  public init?(_ value: Value) {
    switch value {
    case .null: elements = []
    case .text(let bytes):
      guard let array = (try? JSONValue.parse(bytes, limits: JSONLimits(maxMembers: Self.mostElements)))?.arrayValue
      else { return nil }
      elements = array
    default: return nil
    }
  }

  var value: Value { .text(JSONValue.array(elements).compactBytes) }

  /// Corrects the set of an older change by newer changes. Elements that the older change added and a newer change
  /// removed leave the set. Elements that the older change removed and a newer change added come back.
  /// - Parameters:
  ///   - removed: the elements that newer changes removed.
  ///   - added: the elements that newer changes added.
  ///   - was: the set from which the older change started.
  /// - Returns: the corrected set; nil if nothing must be corrected.
  public func without(_ removed: [JSONValue], keeping added: [JSONValue], since was: ElementSet) -> Value? {
    let gone = Set(removed).subtracting(was.elements)
    let again = Set(added).subtracting(elements)
    let kept = elements.filter { !gone.contains($0) } + was.elements.filter { again.contains($0) }
    return kept == elements ? nil : ElementSet(kept).value
  }
}
