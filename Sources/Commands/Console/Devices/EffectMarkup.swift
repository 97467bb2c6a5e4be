import SatchelCrypto
import SatchelHub
import SatchelWorkspace

/// The effect of a change of rights, as a part of a page. It has the numbers that commands show before such a change.
struct EffectMarkup {
  let preview: ScopePreview
  let now: Int64

  /// A text that changes if the effect or the present state changes. The form of a page contains this text. So the hub
  /// does only what the person has seen.
  /// - Parameter state: the values that the act replaces.
  func mark(replacing state: [String]) -> String {
    let tables = preview.tables.map { "\($0.table) \($0.given) \($0.taken) \($0.readOnly)" }
    let devices = preview.devices.map { "\($0.name) \($0.user) \($0.given) \($0.taken) \($0.readOnly)" }
    let text = (state + tables + devices).joined(separator: "\n")
    return String(Digest.of(Array(text.utf8)).hexadecimal.prefix(32))
  }

  var markup: Markup {
    let rights = ScopePreviewText.lostRights(preview).map { "<p class=\"notice\">\($0)</p>\n" as Markup }
    let late = ScopePreviewText.lateWork(preview)
    return """
      \(rows)\(rights)\(devices)\(late.string.isEmpty ? "" : "<p class=\"warning\">\(late)</p>" as Markup)
      """
  }

  private var rows: Markup {
    if preview.given == 0, preview.taken == 0 { return "<p class=\"notice\">No user gets or loses rows.</p>\n" }
    let moved = preview.tables.filter { $0.given > 0 || $0.taken > 0 }
    let table = StatusSheet.Table(
      titles: ["Table", "Rows given", "Rows taken away"], numbers: [1, 2],
      rows: moved.map { [$0.table.text, Words.grouped($0.given), Words.grouped($0.taken)] })
    return table.markup(caption: "Rows, from the next bundle on")
  }

  private var devices: Markup {
    if preview.devices.isEmpty { return "" }
    let table = StatusSheet.Table(
      titles: ["Device", "User", "Rows given", "Rows taken away", "Last contact", "Work not sent yet"],
      numbers: [2, 3],
      rows: preview.devices.map {
        [
          $0.name, $0.user, Words.grouped($0.given), Words.grouped($0.taken), Words.age(of: $0.lastContact, now: now),
          $0.mayHaveUnsentWork ? "possible" : "none",
        ]
      })
    return table.markup(caption: "Devices")
  }
}
