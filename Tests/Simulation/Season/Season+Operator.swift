import SatchelBundle
import SatchelHub
import SatchelValues
import SatchelWorkspace
import TestSupport

/// The work of the hub's operator when the tools request it.
extension Season {
  /// Runs `body`. If the hub then says that it was set back, the operator begins a new epoch, and `body` runs again. If
  /// the hub asks about its clock, the operator corrects the clock, and `body` runs again.
  /// - Parameter patience: the most interventions of the operator.
  func operating<T>(patience: Int = 3, _ body: () throws -> T) throws -> T {
    do {
      let result = try body()
      try checkClock()
      return result
    } catch let refusal as Refusal where patience > 0 && ["set-back", "clock"].contains(refusal.reason) {
      if refusal.reason == "clock" { try seeToClock() } else { try beginEpoch() }
      return try operating(patience: patience - 1, body)
    }
  }

  /// Checks that the hub did no work while its clock was wrong by years. Such work could make devices lose rows.
  private func checkClock() throws {
    if hubClock.isFarWrong { throw Wrong("the hub worked while its clock was wrong by years") }
  }

  /// The operator sets the hub's clock right. If the hub asks about it, the operator then confirms it.
  func seeToClock() throws {
    if hubClock.isFarWrong { tookEffect(.hubClock) }
    hubClock.set(ahead: 0)
    say("the operator sets the hub's clock right")
    if try hub.status().clockFault == nil { return }
    let report = try hub.repair()
    // Two findings are expected: a device's digests show an unseen write, or a power cut came after a bundle that shows
    // a copy of the hub.
    let others = report.findings.map(\.reason).filter { $0 != "clock" }
    let areExpected = others.allSatisfy { $0 == "differs" && !unseen.isEmpty || $0 == "set-back" && parts }
    if !report.isWell, others.isEmpty || !areExpected {
      throw Wrong("the hub's clock is right, and the doctor says \(report)")
    }
  }

  /// The battery of the hub's clock dies, or a person sets the clock.
  func setHubClock(_ random: inout SplitMix64) {
    let day: Int64 = 86_400_000
    let ahead =
      hubClock.isRight ? random.one(of: [-3650 * day, -3 * day, -1_200_000, 1_200_000, 5 * day, 3650 * day]) : 0
    hubClock.set(ahead: ahead)
    say("the hub's clock is \(ahead / 1000) s ahead")
  }

  private func beginEpoch() throws {
    let report = try operating { try hub.restoreInPlace() }
    if !report.wasKnown { throw Wrong("the hub says that it was set back, and does not know it") }
    presence = .afterRestore
    isHubInDoubt = false
    noteNews()
    say("the operator begins epoch \(report.epoch.text.prefix(8))")
    for path in try hub.dueByNow() where path != importing {
      do { _ = try hub.importBundle(path) } catch let refusal as Refusal {
        say("a bundle that waited is refused: \(refusal.reason)")
      }
    }
  }

  /// Imports a bundle. If it deletes or changes very many rows, the operator decides about it, and accepts most such
  /// bundles.
  func importAtHub(_ parcel: Parcel) throws -> HubImportReport {
    do { return try hub.importBundle(parcel.path) } catch let refusal as Refusal where refusal.reason == "brake" {
      // Nothing is rejected if counters are checked, because additions in a rejected bundle do not count.
      let isMeant = parts || isCheckingOrder || everMade.count % 3 != 0
      say("the operator \(isMeant ? "accepts" : "rejects") \(parcel.name)")
      return try isMeant ? hub.importBundle(parcel.path, brake: .accept) : hub.importBundle(parcel.path, brake: .reject)
    }
  }
}

extension Season {
  /// A device that received a bundle of another history reports that until the hub's next bundle comes. Its user
  /// informs the operator, who makes a full bundle.
  func answerEstranged() throws {
    for device in devices where try device.workspace.status().current?.estrangement != nil {
      say("\(device.name) has met another history, and gets everything")
      try deliver(emit(to: device, full: true))
      if let parcel = try export(device) { try deliver(parcel) }
    }
  }
}

extension Refusal {
  /// Whether the refused bundle belongs to another history than the history of this replica.
  var isAboutHistory: Bool { ["other-history", "other-hub"].contains(reason) }
}
