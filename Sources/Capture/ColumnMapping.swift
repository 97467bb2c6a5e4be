import SatchelValues

/// Which column of a table as it was once stands for which column of it as it is now.
public struct ColumnMapping: Sendable {
  private let old: [Name]
  private let current: [Name]

  public init(from old: [Name], to current: [Name]) {
    self.old = old
    self.current = current
  }

  /// Columns that have another name than they had. A name that is gone and a new one in the same place are taken for one column: if
  /// that is wrong, its values differ, and so are found.
  public var renamed: [(from: Name, to: Name)] {
    zip(old, current).filter { !current.contains($0) && !old.contains($1) }.map { (from: $0, to: $1) }
  }

  public var new: [Name] { current.filter { name in !old.contains(name) && !renamed.contains { $0.to == name } } }
  public var gone: [Name] { old.filter { name in !current.contains(name) && !renamed.contains { $0.from == name } } }

  /// What is called `name` in the old table, as it is called now; nil where it is gone.
  public func current(_ name: Name) -> Name? {
    current.contains(name) ? name : renamed.first { $0.from == name }?.to
  }

  /// What is called `name` now, as it was called in the old table; nil where it is new.
  public func old(_ name: Name) -> Name? { old.contains(name) ? name : renamed.first { $0.to == name }?.from }

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
