import SatchelValues

/// Maps the former columns of a table to its present columns.
public struct ColumnMapping: Sendable {
  private let old: [Name]
  private let current: [Name]
  /// The former and present name of each column that still exists.
  private let pairs: [(old: Name, new: Name)]

  /// A column keeps its identity if it has the same name. If a former name and a new name are in the same position,
  /// that also counts as one renamed column. If this guess is wrong, the comparison of the values shows it later.
  public init(from old: [Name], to current: [Name]) {
    let same = old.filter { current.contains($0) }.map { (old: $0, new: $0) }
    let renamed = zip(old, current).filter { !current.contains($0) && !old.contains($1) }.map { (old: $0, new: $1) }
    self.init(old, current, same + renamed)
  }

  private init(_ old: [Name], _ current: [Name], _ pairs: [(old: Name, new: Name)]) {
    self.old = old
    self.current = current
    self.pairs = pairs
  }

  /// This mapping followed by `next`. If a column was removed and another was added under its name, these are two
  /// columns.
  public func then(_ next: ColumnMapping) -> ColumnMapping {
    ColumnMapping(
      old, next.current,
      pairs.compactMap { pair in next.pairs.first { $0.old == pair.new }.map { (old: pair.old, new: $0.new) } })
  }

  /// Whether each column has the same name and position as before.
  public var isIdentity: Bool { old == current && pairs.count == old.count && renamed.isEmpty }

  /// The former and present names of the columns that were renamed.
  public var renamed: [(from: Name, to: Name)] { pairs.filter { $0.old != $0.new }.map { (from: $0.old, to: $0.new) } }
  public var new: [Name] { current.filter { name in !pairs.contains { $0.new == name } } }
  public var gone: [Name] { old.filter { name in !pairs.contains { $0.old == name } } }

  /// The present name of a former column; nil if the column was removed.
  public func current(_ name: Name) -> Name? {
    if let pair = pairs.first(where: { $0.old == name }) { return pair.new }
    return !old.contains(name) && current.contains(name) ? name : nil
  }

  /// The former name of a present column; nil if the column was added.
  public func old(_ name: Name) -> Name? {
    if let pair = pairs.first(where: { $0.new == name }) { return pair.old }
    return !current.contains(name) && old.contains(name) ? name : nil
  }

  /// The changes as text that follows a table's name; nil if there are none.
  public var words: String? {
    func list(_ names: [Name]) -> String { names.map(\.text).joined(separator: ", ") }
    var parts: [String] = []
    if !new.isEmpty { parts.append("has the new column \(list(new))") }
    if !gone.isEmpty { parts.append("no longer has the column \(list(gone))") }
    parts += renamed.map { "calls the column \($0.from) now \($0.to)" }
    if parts.isEmpty, old != current { parts.append("has its columns in another order") }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}
