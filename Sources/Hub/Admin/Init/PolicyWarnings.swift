import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Warnings of `init` and `dataset apply` about columns whose policy cannot combine their values. In such a column,
/// each change on both sides is a conflict. A sum of texts is a warning only if an earlier version of the dataset had
/// it. A new sum of texts is refused.
struct PolicyWarnings {
  private let tables: [TrackedTable]
  private let dataset: DatasetDefinition

  init(_ tables: [TrackedTable], of dataset: DatasetDefinition) { (self.tables, self.dataset) = (tables, dataset) }

  func findings(in database: borrowing Database) throws -> [Finding] {
    var findings: [Finding] = []
    for table in tables {
      findings += try database.columnDeclarations(of: table.name).compactMap { Self.finding($0, of: table) }
      findings += [findingOfDay(table)].compactMap(\.self)
    }
    return findings
  }

  /// A warning if rows leave devices as the days pass, and late changes of these rows are conflicts.
  private func findingOfDay(_ table: TrackedTable) -> Finding? {
    guard table.rules.late == .conflict, table.rules.write != .none, dataset.rowsLeaveByDay(table.rules) else {
      return nil
    }
    return Finding(
      .rowsLeave,
      "Rows of \(table.name) leave devices as days pass. A change of such a row that comes later is a conflict.",
      hint: "Say \"late\": \"accept\" for \(table.name), if that work should count.")
  }

  private static func finding(_ column: ColumnDeclaration, of table: TrackedTable) -> Finding? {
    guard case .combination(let how) = table.rules.policy(of: column.name), let needed = values(for: how, column) else {
      return nil
    }
    return Finding(
      .policyType,
      """
      The policy "\(how.rawValue)" of \(table.name).\(column.name) needs \(needed), and the type of the column is \
      \(column.type). Other values are a conflict if both sides change them.
      """, hint: "Use another policy, or give the column a type for such values.")
  }

  /// The kind of values that a policy needs, if the column usually holds others. nil if the column may hold the needed
  /// values. The declared type is no sure sign. For example, SQLite treats the type JSON as a type of numbers, but such
  /// a column holds texts.
  private static func values(for how: Combination, _ column: ColumnDeclaration) -> String? {
    let holdsBytes = column.affinity == .none && !["", "ANY"].contains(column.type.uppercased())
    switch how {
    case .union: return holdsBytes || [.integer, .real].contains(column.affinity) ? "texts with JSON arrays" : nil
    case .sum: return holdsBytes || column.affinity == .text ? "numbers" : nil
    case .max, .min: return holdsBytes ? "numbers or texts" : nil
    }
  }
}

extension TrackedTable {
  /// The columns of texts whose policy is `sum`. Texts can never be added.
  var countersOfTexts: [Name] {
    zip(schema.columns, info.types).filter { column, type in
      rules.policy(of: column) == .combination(.sum) && Comparison.Affinity(ofDeclared: type) == .text
    }.map(\.0)
  }
}
