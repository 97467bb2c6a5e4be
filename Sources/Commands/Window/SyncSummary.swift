import SatchelJSON
import SatchelValues

/// The result of a sync in the words of the window, made from the document that `sync --json` prints.
struct SyncSummary {
  /// How a bundle for the office got onto the stick.
  enum Delivery: Equatable {
    case put, wasThere, nothing, failed
    /// Other sticks must carry the rest.
    case part
  }

  private(set) var written: Int64 = 0
  private(set) var removed: Int64 = 0
  private(set) var files: Int64 = 0
  /// The number of changes of this device that met other changes.
  private(set) var met: Int64 = 0
  /// The number of stored bundles that are not applied yet.
  private(set) var waiting: Int64 = 0
  private(set) var refused: Int64 = 0
  /// The number of earlier bundles that the office lost and needs again.
  private(set) var again: Int64 = 0
  private(set) var deliveries: [Delivery] = []
  /// The numbers of changes, and of files and photos, in the bundles that are whole on the stick.
  private(set) var onStick: (changes: Int64, files: Int64) = (0, 0)
  /// The number of files that did not fit on the stick.
  private(set) var filesLeft: Int64 = 0
  /// The number of volumes that no stick has yet.
  private(set) var missing: Int64 = 0
  /// The reasons of the failures: of the whole sync, and of files that were not imported.
  private(set) var reasons: [String] = []

  /// - Parameter document: the JSON document. nil: the sync ended without a document.
  init(_ document: JSONValue?) {
    for bundle in document?["bundles"]?.arrayValue ?? [] { add(bundle) }
    refused += Int64(document?["refused"]?.arrayValue?.count ?? 0)
    for outgoing in document?["outgoing"]?.arrayValue ?? [] {
      missing += Int64(outgoing["missing"]?.arrayValue?.count ?? 0)
      add(outgoing: outgoing, Self.delivery(outgoing))
    }
    if let reason = document?["error"]?["reason"]?.stringValue { reasons.insert(reason, at: 0) }
  }

  /// Whether the work that was due is not on the stick.
  var isWorkLeftBehind: Bool { deliveries.contains(.failed) || (deliveries.isEmpty && !reasons.isEmpty) }

  /// The step with which a person at the device can remove a failure. nil if the office must read the report.
  var wayOut: WindowText? { reasons.compactMap(Self.wayOut).first }

  /// Whether the data itself has a fault. If so, it is not certain that all work is safe.
  var isDataFaulty: Bool {
    switch wayOut {
    case .damagedFile, .lostFile, .replacedFile, .notCaptured: true
    default: false
    }
  }

  private mutating func add(_ bundle: JSONValue) {
    func number(_ name: String) -> Int64 { bundle[name]?.integerValue ?? 0 }
    switch bundle["verdict"]?.stringValue {
    case "imported":
      written += number("written")
      removed += number("removed")
      files += number("files")
      met += number("conflicts") + number("told")
    case "staged", "part": waiting += 1
    case "refused":
      refused += 1
      if let reason = bundle["error"]?["reason"]?.stringValue { reasons.append(reason) }
    case "redeliver": again += Int64(bundle["redelivered"]?.arrayValue?.count ?? 0)
    default: break
    }
  }

  private mutating func add(outgoing: JSONValue, _ delivery: Delivery) {
    deliveries.append(delivery)
    guard delivery == .put || delivery == .wasThere else { return }
    onStick.changes += outgoing["changes"]?.integerValue ?? 0
    onStick.files += outgoing["files"]?.integerValue ?? 0
    filesLeft += outgoing["files_left"]?.integerValue ?? 0
  }

  private static func delivery(_ outgoing: JSONValue) -> Delivery {
    if outgoing["missing"]?.arrayValue?.isEmpty == false { return .part }
    return switch outgoing["put"]?.boolValue {
    case true?: .put
    case false?: .wasThere
    case nil: outgoing["file"]?.stringValue == nil ? .nothing : .failed
    }
  }

  /// The sentences for people, in the order of the work.
  func lines(_ words: WindowWords) -> [String] {
    let counted: [(WindowText, Int64)] = [
      (.rowsCame, written), (.rowsWent, removed), (.filesCame, files), (.bundlesWait, waiting), (.changesMet, met),
      (.filesRefused, refused), (.carryAgain, again),
    ]
    var lines = counted.filter { $0.1 > 0 }.map { words.count($0.0, $0.1) }
    if lines.isEmpty, reasons.isEmpty { lines.append(words(.nothingCame)) }
    // If the data has a fault, the stick may carry only older work.
    if !isDataFaulty { lines += delivered(words) }
    if missing > 0 { lines.append(words.count(.nextStick, missing)) }
    if let wayOut { lines.append(words(wayOut)) }
    return lines
  }

  private func delivered(_ words: WindowWords) -> [String] {
    if deliveries.isEmpty, isWorkLeftBehind { return [words(.workNotOnStick)] }
    let counted: [(WindowText, Int64)] = [
      (.changesOnStick, onStick.changes), (.filesOnStick, onStick.files), (.filesDidNotFit, filesLeft),
    ]
    return deliveries.map { delivery -> String in
      let text: WindowText =
        switch delivery {
        case .put: .workOnStick
        case .wasThere: .workWasOnStick
        case .part: .partOnStick
        case .nothing: .nothingToCarry
        case .failed: .workNotOnStick
        }
      return words(text)
    } + counted.filter { $0.1 > 0 }.map { words.count($0.0, $0.1) }
  }

  private static func wayOut(_ reason: String) -> WindowText? {
    switch Reason(rawValue: reason) {
    case .stickFull: .whyFull
    case .falseSize, .notAsWritten: .whyBadStick
    case .notMounted, .noFolder: .whyNotMounted
    case .busy: .whyBusy
    case .noSpace: .whyNoSpace
    case .readOnly, .permissionDenied: .whyReadOnly
    case .passwordNeeded, .passwordMistyped, .keyPasswordProtected, .keyWrongPassword: .whyPassword
    case .newerFormat, .newerSchema: .whyNewer
    case .fingerprintNeeded: .whyFingerprint
    case .corrupt, .notADatabase: .damagedFile
    case .databaseLost: .lostFile
    case .replaced: .replacedFile
    case .damaged, .olderDatabase: .notCaptured
    default: nil
    }
  }
}
