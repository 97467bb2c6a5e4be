import SatchelBundle
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What `compare` knows of a device whose rows are other ones than the hub believes.
public struct StateComparison: Sendable {
  public let device: String
  /// nil: the device never told of its rows.
  public let proof: StateProof?
  /// The rows that differ, as far as the device named them.
  public let rows: [DifferentRow]
  /// How many rows are marked to be sent again; nil: nobody asked for that.
  public var repaired: Int?
}

extension HubWorkspace {
  /// Names the rows that a device has otherwise than the hub believes. Where they are not known yet, the device's next
  /// bundle from here asks for them.
  /// - Parameter name: the device's name.
  public func compare(_ name: String) throws -> StateComparison {
    try changing { store in
      guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
      let rows = try store.differentRows(of: device.id)
      guard let proof = try store.proof(of: device.id) else {
        return StateComparison(device: name, proof: nil, rows: [])
      }
      if proof.result == .differs, rows.isEmpty, !proof.isAsking {
        try store.ask(device.id, proof.differences.filter { !$0.sums.isEmpty }.map { .init($0.table, sums: $0.sums) })
      }
      return StateComparison(device: name, proof: try store.proof(of: device.id), rows: rows)
    }
  }

  /// Marks the rows that differ to be sent again. A device keeps what it has as a conflict before it takes the hub's
  /// row.
  ///
  /// Throws a `WorkspaceError` where the rows are not known.
  /// - Parameter name: the device's name.
  public func repairDifferences(of name: String) throws -> StateComparison {
    try changing { store in
      guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
      let rows = try store.differentRows(of: device.id)
      guard !rows.isEmpty else {
        throw WorkspaceError(
          "not-compared", "It is not known which rows of \(name) differ.", hint: "Run: satchel-hub compare \(name)")
      }
      var count = 0
      for row in rows {
        guard let place = store.place(of: row.table) else { continue }
        try store.owe(row.key, in: place, to: device.id)
        count += 1
      }
      try store.forgetDifferentRows(of: device.id)
      var comparison = StateComparison(device: name, proof: try store.proof(of: device.id), rows: rows)
      comparison.repaired = count
      return comparison
    }
  }
}
