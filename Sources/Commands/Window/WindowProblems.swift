import SatchelDevice
import SatchelPlatform
import SatchelValues

/// A finding of `status` in the words of the window, with its way out.
struct WindowProblem: Equatable {
  let text: WindowText
  /// nil: the text has no number.
  var count: Int64?

  func words(_ words: WindowWords) -> String { count.map { words.count(text, $0) } ?? words(text) }
}

extension WindowProblem {
  /// The findings, the most urgent first.
  /// - Parameter now: the present time, in milliseconds since 1970.
  static func all(_ status: DeviceStatus, now: Int64) -> [WindowProblem] {
    guard let current = status.current else {
      return [WindowProblem(text: beginning(status))] + bundles(status)
    }
    let found = faults(current) + bundles(status) + notes(status, current, now: now)
    // A warning of `status` that has no text here gets a general text.
    let isUnnamed = found.isEmpty && !DeviceTool.warnings(current, now).isEmpty
    return isUnnamed ? [WindowProblem(text: .otherWarning)] : found
  }

  private static func beginning(_ status: DeviceStatus) -> WindowText {
    switch status.trouble {
    // A device that has left its hub keeps its rows for the next hub.
    case nil: status.configuration.leaves == nil ? .isFirst : .renewing
    case .replaced: .replacedFile
    case .lost, .lostAfterLeaving: .lostFile
    case .damaged: .damagedFile
    case .away: .onTablet
    }
  }

  private static func faults(_ current: DeviceStatus.Current) -> [WindowProblem] {
    var found: [WindowProblem] = []
    if !current.damage.isEmpty || !current.lostCounts.isEmpty || current.unknownExport != nil {
      found.append(WindowProblem(text: .notCaptured))
    }
    if current.triggerFault != nil { found.append(WindowProblem(text: .badTrigger)) }
    if current.estrangement != nil { found.append(WindowProblem(text: .otherHistory)) }
    if current.isBusy { found.append(WindowProblem(text: .appWrites)) }
    return found
  }

  private static func bundles(_ status: DeviceStatus) -> [WindowProblem] {
    let counted: [(WindowText, Int)] = [
      (.stuckBundles, status.obstacles.count), (.stagedBundles, status.staged.count - status.obstacles.count),
      (.failedBundles, status.failedImports.count), (.refusedFiles, status.quarantined.count),
      (.incompleteBundles, status.volumes.count),
    ]
    return counted.filter { $0.1 > 0 }.map { WindowProblem(text: $0.0, count: Int64($0.1)) }
  }

  private static func notes(
    _ status: DeviceStatus, _ current: DeviceStatus.Current, now: Int64
  ) -> [WindowProblem] {
    var found: [WindowProblem] = []
    let missing = current.attachments.missing.count { $0.why == .missing }
    if missing > 0 { found.append(WindowProblem(text: .filesMissing, count: Int64(missing))) }
    if status.health(at: now)?.isDiskNearlyFull == true { found.append(WindowProblem(text: .diskFull)) }
    let silence = now - current.state.heard
    if silence > Words.usualSilence { found.append(WindowProblem(text: .longSilence, count: silence / 86_400_000)) }
    if now < current.newestStamp, Words.skew(now - current.newestStamp) != nil {
      found.append(WindowProblem(text: .wrongClock))
    }
    if current.blocks.contains(where: \.isShort) { found.append(WindowProblem(text: .fewKeys)) }
    return found
  }
}
