import SatchelJSON
import SatchelValues

extension Manifest.Changes {
  /// A column that an app on the device renamed.
  public struct RenamedColumn: Hashable, Sendable {
    public let table: Name
    /// The column's name at the hub.
    public let from: Name
    /// The column's name on the device.
    public let to: Name

    public init(table: Name, from: Name, to: Name) {
      self.table = table
      self.from = from
      self.to = to
    }
  }

  /// The most renamed columns in a bundle.
  public static let mostRenamed = 1_000
}

// MARK: JSON

extension Manifest.Changes {
  var renamedMembers: [JSONValue.Member] {
    renamed.isEmpty ? [] : [.init(name: "renamed", value: .array(renamed.map(\.json)))]
  }
}

extension Manifest.Changes.RenamedColumn {
  fileprivate var json: JSONValue {
    .object([
      .init(name: "table", value: .string(table.text)), .init(name: "from", value: .string(from.text)),
      .init(name: "to", value: .string(to.text)),
    ])
  }
}

extension ManifestFields {
  /// The renamed columns; empty if there is no such member.
  func renamedColumns() throws(BundleError) -> [Manifest.Changes.RenamedColumn] {
    guard let value = object["renamed"] else { return [] }
    var columns: [Manifest.Changes.RenamedColumn] = []
    for item in try list(value, "renamed", most: Manifest.Changes.mostRenamed) {
      let fields = ManifestFields(item)
      let names = (table: try fields.string("table"), from: try fields.string("from"), to: try fields.string("to"))
      columns.append(.init(table: Name(names.table), from: Name(names.from), to: Name(names.to)))
    }
    return columns
  }
}
