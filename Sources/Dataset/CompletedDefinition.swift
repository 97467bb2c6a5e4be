import SatchelJSON
import SatchelValues

extension DatasetDefinition {
  /// The definition with more references. Its document has them too, because the devices need them.
  /// - Parameter references: each reference, with the table that refers. A reference is left out if the table's
  ///   `references` already name its column.
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
  /// The definition with a rule for rows that name no parent, if it has no such rule. The rest of its document is not
  /// changed.
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
  /// The object with a new value for one member. A missing member is added at the end.
  /// - Parameter change: returns the new value. It gets the present value, or an empty object.
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
