import SatchelDevice

/// The work on this device that the office is not known to have.
///
/// The verdict is `everything` only if no fact speaks against it. So the pending changes are not enough. The verdict
/// also depends on exports and files on their way, files that no bundle can carry, decisions, conflicts that were not
/// reported, and every fault that makes the counts uncertain.
struct OfficeStanding {
  enum Verdict: Equatable {
    case everything
    /// All work is packed, and the office has not confirmed it.
    case underWay
    /// Work is not packed yet, or cannot be carried.
    case waits
    /// Nothing is known to wait, but the counts are not certain.
    case notCertain
    /// A fault needs a person.
    case wrong
    /// The first bundle from the office has not come.
    case noData

    /// The word and the sentence for people.
    var texts: (word: WindowText, sentence: WindowText) {
      switch self {
      case .everything: (.wordGood, .everything)
      case .underWay: (.wordNotYet, .underWay)
      case .waits: (.wordNotYet, .waits)
      case .notCertain: (.wordNotYet, .notCertain)
      case .wrong: (.wordAttention, .wrong)
      case .noData: (.wordNotYet, .noData)
      }
    }
  }

  /// Work that is not known to be at the office.
  struct Lack: Equatable {
    let text: WindowText
    let count: Int64
    /// Whether the work is packed. If so, only the answer of the office is missing.
    var isUnderWay = false
  }

  let verdict: Verdict
  let lacks: [Lack]

  /// - Parameter lastSync: the result of the last sync in this window. nil: the result is not known. If that sync could
  ///   not put the work on the stick, packed work is not under way.
  init(_ status: DeviceStatus, lastSync: SyncSummary? = nil) {
    guard let current = status.current else {
      lacks = []
      verdict =
        switch status.trouble {
        case nil: status.configuration.leaves == nil ? .noData : .notCertain
        case .away: .notCertain
        default: .wrong
        }
      return
    }
    let lacks = Self.lacks(status, current)
    self.lacks = lacks
    let isFaulty =
      !current.damage.isEmpty || !current.lostCounts.isEmpty || current.unknownExport != nil
      || current.triggerFault != nil || current.estrangement != nil
    verdict =
      if isFaulty {
        .wrong
      } else if lacks.contains(where: { !$0.isUnderWay || lastSync?.isWorkLeftBehind == true }) {
        .waits
      } else if !lacks.isEmpty {
        .underWay
      } else {
        current.isBusy ? .notCertain : .everything
      }
  }

  private static func lacks(_ status: DeviceStatus, _ current: DeviceStatus.Current) -> [Lack] {
    let pending = current.pending.reduce(0) { $0 + $1.count }
    let packed = pending - current.notExported
    let (files, unconfirmed) = (current.attachments, current.unconfirmed)
    let isRenewing = status.configuration.continues != nil || status.configuration.leaves != nil
    let all: [Lack] = [
      Lack(text: .changesToCarry, count: Int64(current.notExported)),
      Lack(text: .changesUnconfirmed, count: Int64(packed), isUnderWay: true),
      // An unconfirmed export may have no pending change, because its changes were undone since.
      Lack(text: .exportsUnconfirmed, count: packed > 0 ? 0 : unconfirmed.exports, isUnderWay: true),
      Lack(text: .decisions, count: Int64(unconfirmed.decisions)),
      Lack(text: .conflictsToReport, count: unconfirmed.conflicts),
      Lack(text: .filesToCarry, count: Int64(files.notSent)),
      Lack(text: .filesUnconfirmed, count: Int64(files.waiting - files.notSent), isUnderWay: true),
      Lack(text: .filesNotCarriable, count: Int64(files.notCarriable)),
      Lack(text: .rowsWithoutKey, count: current.namelessRows.reduce(0) { $0 + $1.count }),
      Lack(text: .formerUser, count: Int64(current.sealed.count)),
      Lack(text: .carryAgain, count: Int64(current.redelivery.count + current.brought)),
      Lack(text: .moreSticks, count: Int64(current.onSticks.count)),
      Lack(text: .newKey, count: current.hasUntoldKey ? 1 : 0),
      Lack(text: .renewing, count: isRenewing ? 1 : 0),
    ]
    return all.filter { $0.count > 0 }
  }
}
