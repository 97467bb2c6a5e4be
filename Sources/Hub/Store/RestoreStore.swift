import SatchelSQLite
import SatchelValues

extension HubStore {
  /// Begins a new history with the rows as they are. The emissions of the one before are remembered, because devices still stand on them, and
  /// nothing is built on them any more.
  /// - Parameter time: seconds since 1970. Numbers of emissions go on from there, above all that the hub gave out after the backup was made
  ///   and knows nothing of.
  func beginEpoch(_ epoch: Epoch, at time: Int64) throws {
    let highest =
      try database.first(
        """
        SELECT max(emissions_from, (SELECT coalesce(max(max(proved, emitted)), 0) FROM satchel_devices)) FROM satchel_hub
        """
      ) { $0.integer(0) } ?? 0
    try database.run(
      "UPDATE satchel_hub SET epoch = :epoch, emissions_from = :from",
      ["epoch": .string(epoch.text), "from": .integer(max(highest, time) + 1)])
  }
}
