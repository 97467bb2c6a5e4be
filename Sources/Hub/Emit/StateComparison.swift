import SatchelBundle
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `compare`: the known differences between a device's rows and the rows that the hub expects there.
public struct StateComparison: Sendable {
  public let device: String
  /// The last comparison of the device's rows. nil if the device never sent digests of its rows.
  public let proof: StateProof?
  /// The differing rows that the device has named so far.
  public let rows: [DifferentRow]
  /// The number of rows that the hub will send again. nil if no repair was requested.
  public var repaired: Int?
}

extension HubWorkspace {
  /// Lists the rows on a device that differ from the rows that the hub expects there. If the hub does not know which
  /// rows differ, its next bundle for the device asks for them.
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

  /// Marks the rows that differ, so that the hub sends them again. The device records its own version of each row as a
  /// conflict.
  ///
  /// Throws a `WorkspaceError` if the hub does not know which rows differ.
  /// - Parameter name: the device's name.
  public func repairDifferences(of name: String) throws -> StateComparison {
    try changing { store in
      guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
      let rows = try store.differentRows(of: device.id)
      guard !rows.isEmpty else {
        throw WorkspaceError(
          .notCompared, "It is not known which rows of \(name) differ.", hint: "Run: satchel-hub compare \(name)")
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
