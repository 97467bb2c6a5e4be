import SatchelValues

/// Which column of a table as it was once stands for which column of it as it is now.
public struct ColumnMapping: Sendable {
  private let old: [Name]
  private let current: [Name]
  /// What each column was called that is still there, and is called now.
  private let pairs: [(old: Name, new: Name)]

  /// Columns of one name are one. A name that is gone and a new one in the same place are taken for one column: if that
  /// is wrong, its values differ, and so are found.
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

  /// Both, one after the other: a column that went and came back under its name is another one.
  public func then(_ next: ColumnMapping) -> ColumnMapping {
    ColumnMapping(
      old, next.current,
      pairs.compactMap { pair in next.pairs.first { $0.old == pair.new }.map { (old: pair.old, new: $0.new) } })
  }

  /// Whether each column is where it was.
  public var isIdentity: Bool { old == current && pairs.count == old.count && renamed.isEmpty }

  /// Columns that have another name than they had.
  public var renamed: [(from: Name, to: Name)] { pairs.filter { $0.old != $0.new }.map { (from: $0.old, to: $0.new) } }
  public var new: [Name] { current.filter { name in !pairs.contains { $0.new == name } } }
  public var gone: [Name] { old.filter { name in !pairs.contains { $0.old == name } } }

  /// What is called `name` in the old table, as it is called now; nil where it is gone.
  public func current(_ name: Name) -> Name? {
    if let pair = pairs.first(where: { $0.old == name }) { return pair.new }
    return !old.contains(name) && current.contains(name) ? name : nil
  }

  /// What is called `name` now, as it was called in the old table; nil where it is new.
  public func old(_ name: Name) -> Name? {
    if let pair = pairs.first(where: { $0.new == name }) { return pair.old }
    return !current.contains(name) && old.contains(name) ? name : nil
  }

  /// What changed, in words that follow a table's name; nil where nothing did.
  public var words: String? {
    func list(_ names: [Name]) -> String { names.map(\.text).joined(separator: ", ") }
    var parts: [String] = []
    if !new.isEmpty { parts.append("has the new column \(list(new))") }
    if !gone.isEmpty { parts.append("has no longer the column \(list(gone))") }
    parts += renamed.map { "calls the column \($0.from) now \($0.to)" }
    if parts.isEmpty, old != current { parts.append("has its columns in another order") }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}
