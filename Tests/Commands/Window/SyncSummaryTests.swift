import SatchelJSON
import Testing

@testable import SatchelCommands

@Suite("The result of a sync in plain words")
struct SyncSummaryTests {
  private let words = WindowWords(.english)

  @Test(
    "a failure that a person at the device can do something about says what, also if it concerns one file alone",
    arguments: [
      ("no-space", .whyNoSpace), ("read-only", .whyReadOnly), ("password-needed", .whyPassword),
      ("key-wrong-password", .whyPassword), ("newer-format", .whyNewer), ("fingerprint-needed", .whyFingerprint),
      ("stick-full", .whyFull), ("busy", .whyBusy),
    ] as [(String, WindowText)])
  func wayOut(reason: String, text: WindowText) {
    let failure: JSONValue = ["reason": .string(reason)]
    let bundle: JSONValue = ["verdict": "refused", "error": failure]
    let outgoing: JSONValue = ["put": true, "file": "a.satchel"]
    for document: JSONValue in [
      ["error": failure, "outgoing": .array([outgoing])],
      ["bundles": .array([bundle]), "outgoing": .array([outgoing])],
    ] {
      let lines = SyncSummary(document).lines(words)
      #expect(lines.contains(words(text)) && lines.contains(words(.workOnStick)), "\(lines)")
    }
  }

  @Test(
    "a fault of the data is named, and nothing is promised about the work",
    arguments: ["corrupt", "not-a-database", "database-lost", "replaced", "damaged", "older-database"])
  func dataFault(reason: String) {
    for put: JSONValue in [true, false, .null] {
      let outgoing: JSONValue = ["put": put, "file": "a.satchel"]
      let summary = SyncSummary(["error": ["reason": .string(reason)], "outgoing": .array([outgoing])])
      #expect(summary.isDataFaulty && summary.lines(words).count == 1, "\(summary.lines(words))")
    }
  }

  @Test("a sync says how much is on the stick, and only if it is there as a whole")
  func counts() {
    for (put, isThere): (JSONValue, Bool) in [(true, true), (false, true), (.null, false)] {
      let outgoing: JSONValue = ["file": "a.satchel", "put": put, "changes": 3, "files": 2, "files_left": 1]
      let lines = SyncSummary(["outgoing": .array([outgoing])]).lines(words)
      for (text, count): (WindowText, Int64) in [(.changesOnStick, 3), (.filesOnStick, 2), (.filesDidNotFit, 1)] {
        #expect(lines.contains(words.count(text, count)) == isThere, "\(lines)")
      }
    }
  }

  @Test("a sync that ended early has put no work on the stick")
  func endedEarly() {
    let summary = SyncSummary(["error": ["reason": "stick-full"]])
    #expect(summary.isWorkLeftBehind && summary.lines(words).contains(words(.workNotOnStick)))
    #expect(!SyncSummary(nil).isWorkLeftBehind)
  }
}
