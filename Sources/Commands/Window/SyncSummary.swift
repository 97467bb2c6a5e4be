import SatchelJSON
import SatchelValues

/// The result of a sync in the words of the window, made from the document that `sync --json` prints.
struct SyncSummary {
  /// The part that a bundle for the office has in the result.
  enum Delivery: Equatable {
    case put, wasThere, nothing, failed
  }

  private(set) var written: Int64 = 0
  private(set) var removed: Int64 = 0
  private(set) var files: Int64 = 0
  /// The number of changes of this device that met other changes.
  private(set) var met: Int64 = 0
  /// The number of bundles that are kept and not applied yet.
  private(set) var waiting: Int64 = 0
  private(set) var refused: Int64 = 0
  /// The number of earlier bundles that the office lost and needs again.
  private(set) var again: Int64 = 0
  private(set) var deliveries: [Delivery] = []
  /// The number of volumes that no stick has yet.
  private(set) var missing: Int64 = 0
  /// The reason of the first failure. nil: there was none.
  private(set) var reason: String?

  /// - Parameter document: nil: the sync ended without a document.
  init(_ document: JSONValue?) {
    for bundle in document?["bundles"]?.arrayValue ?? [] { add(bundle) }
    refused += Int64(document?["refused"]?.arrayValue?.count ?? 0)
    for outgoing in document?["outgoing"]?.arrayValue ?? [] {
      missing += Int64(outgoing["missing"]?.arrayValue?.count ?? 0)
      deliveries.append(Self.delivery(outgoing))
    }
    reason = document?["error"]?["reason"]?.stringValue
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
    case "refused": refused += 1
    case "redeliver": again += Int64(bundle["redelivered"]?.arrayValue?.count ?? 0)
    default: break
    }
  }

  private static func delivery(_ outgoing: JSONValue) -> Delivery {
    switch outgoing["put"]?.boolValue {
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
    if lines.isEmpty, reason == nil { lines.append(words(.nothingCame)) }
    for delivery in deliveries {
      let text: WindowText =
        switch delivery {
        case .put: .workOnStick
        case .wasThere: .workWasOnStick
        case .nothing: .nothingToCarry
        case .failed: .workNotOnStick
        }
      lines.append(words(text))
    }
    if missing > 0 { lines.append(words.count(.nextStick, missing)) }
    if let why = reason.flatMap(Self.why) { lines.append(words(why)) }
    return lines
  }

  /// The way out of a failure that a person at the device can go. nil: the office must read the report.
  private static func why(_ reason: String) -> WindowText? {
    switch Reason(rawValue: reason) {
    case .stickFull: .whyFull
    case .falseSize, .notAsWritten: .whyBadStick
    case .notMounted, .noFolder: .whyNotMounted
    case .busy: .whyBusy
    case .noSpace: .whyNoSpace
    default: nil
    }
  }
}
