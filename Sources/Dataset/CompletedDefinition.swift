import SatchelJSON
import SatchelValues

extension DatasetDefinition {
  /// Returns the definition with more references. They are written into its document too, because devices need them.
  /// - Parameter references: each with the name of the table that refers. A column that the table's `references`
  ///   already names is skipped.
  public func adding(_ references: [(child: Name, reference: DeclaredReference)]) throws -> DatasetDefinition {
    let missing = references.filter { child, reference in
      rules(for: child)?.references.contains { $0.column == reference.column } == false
    }
    if missing.isEmpty { return self }
    let document = try JSONValue.parse(source, limits: JSONLimits())
    let completed = document.replacing("tables") { tables in
      missing.reduce(tables) { tables, addition in
        tables.replacing(addition.child.text) { rules in
          rules.replacing("references") {
            $0.replacing(addition.reference.column.text) { _ in addition.reference.json }
          }
        }
      }
    }
    return try DatasetDefinition(json: completed.prettyBytes)
  }
}

extension DatasetDefinition {
  /// Returns the definition with a rule for rows that name no parent, if it has none of its own. The rest of its
  /// document stays as its author wrote it.
  public func saying(_ rule: OrphanRule) throws -> DatasetDefinition {
    guard orphans == nil, let start = source.firstIndex(of: UInt8(ascii: "{")) else { return self }
    let member = Array(" \"orphans\": \"\(rule.rawValue)\",".utf8)
    return try DatasetDefinition(json: Array(source[...start]) + member + Array(source[(start + 1)...]))
  }
}

extension DeclaredReference {
  fileprivate var json: JSONValue {
    guard let parentColumn else { return .string(table.text) }
    return ["table": .string(table.text), "column": .string(parentColumn.text)]
  }
}

extension JSONValue {
  /// Returns the object with another value of one member. A missing member is added at the end.
  /// - Parameter change: takes the present value, or an empty object.
  fileprivate func replacing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    var members = objectValue ?? []
    let place = members.firstIndex { Name($0.name) == Name(name) }
    let value = change(place.map { members[$0].value } ?? .object([]))
    if let place {
      members[place] = Member(name: name, value: value)
    } else {
      members.append(Member(name: name, value: value))
    }
    return .object(members)
  }
}
