import SatchelConflicts
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension ConsoleSite {
  /// Shows one conflict side by side, with the decision. All changes of a unit are shown and decided together.
  func conflict(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let shown = try hub.conflict(request.needed("id"))
    let conflict = shown.conflict
    let layers = try hub.layers()
    let decided: Markup =
      conflict.decision.map {
        "<p class=\"notice\">\($0.made.rawValue) by \($0.by), \(UTCTime.text(milliseconds: $0.at)).</p>" as Markup
      } ?? ""
    let isOpen = conflict.record.state != .resolved
    let unit: Markup =
      shown.isUnit ? "<p>A unit of \(Words.count(shown.parts.count, "change")), decided as one.</p>" : ""
    let below: Markup =
      shown.below.isEmpty ? "" : "<pre>\(ConflictView.text(below: shown.below).string)</pre>"
    let parts = shown.parts.map { Self.part($0, shown, layers, choices: isOpen && !shown.isUnit) }
    return frame(
      "Conflict \(conflict.record.id.text.prefix(8))",
      "\(unit)\(decided)\n\(isOpen ? Self.form(shown, parts) : "\(parts)")\(below)")
  }

  private static func part(
    _ part: ShownConflict.Part, _ shown: ShownConflict, _ layers: [Layer], choices: Bool
  ) -> Markup {
    let record = part.conflict.record
    let view = ConflictView(conflict: part.conflict, layers: layers)
    let key = String(decoding: canonicalKey(record.key), as: UTF8.self)
    let address = "history?table=\(percentEncoded(record.table.text))&key=\(percentEncoded(key))"
    return """
      <p>\(ConflictView.row(of: part.conflict)): \(ConflictView.explain(record.kind)). \
      Change by \(record.user) on \(shown.device), \
      \(UTCTime.text(milliseconds: record.stamp.milliseconds)). State: \(record.state.rawValue). <a href="\(address)">The row's history</a></p>
      \(part.conflict.isReported ? "<p>\(ConflictView.reported(by: shown.device))</p>" as Markup : "")\
      \(record.isTakenLate ? "<p>\(ConflictView.takenLate)</p>" : "" as Markup)\
      \(record.note.map { "<p>Note: \($0)</p>" as Markup } ?? "")
      \(sides(record, view.columns(part.row), part.row, choices: choices))
      \(geometries(view.geometries(part.row), part.row))

      """
  }

  /// The form for the decision. Enter in a field presses the first button, which must decide nothing by itself. For a
  /// single conflict, this button does nothing if no column was chosen. A unit is decided as a whole, so it has no
  /// choice for each column, and its first button is disabled.
  private static func form(_ shown: ShownConflict, _ parts: [Markup]) -> Markup {
    let columns: Markup =
      shown.isUnit
      ? "<button disabled hidden></button>\n"
      : "<button name=\"keep\" value=\"columns\">Keep the chosen value of each column</button>\n"
    return """
      <form method="post" action="conflict">
      <input type="hidden" name="id" value="\(shown.conflict.record.id.text)">
      <input type="hidden" name="row" value="\(shown.mark)">
      <p><label for="note">Reason, for later readers</label> <input id="note" name="note" maxlength="500"></p>
      \(parts)
      <p>\(columns)<button name="keep" value="hub">Keep the hub's values</button>
      <button name="keep" value="device">Take the device's values</button></p>
      </form>
      """
  }

  private static func sides(_ record: ConflictRecord, _ columns: [Name], _ row: [Field]?, choices: Bool) -> Markup {
    let lines = columns.enumerated().map { place, name -> Markup in
      let before = ConflictView.cell(name, record.baseValues)
      func side(_ fields: [Field]?) -> Markup {
        let words = ConflictView.cell(name, fields)
        let shown = Words.clipped(words)
        return words == before ? "<td>\(shown)</td>" : "<td class=\"differs\">\(shown)</td>"
      }
      return """
        <tr><th scope="row">\(name.text)</th><td>\(Words.clipped(before))</td>\(side(record.hubValues))\(side(record.deviceValues))\
        <td>\(Words.clipped(ConflictView.cell(name, row)))</td>\(choices ? choice(place, name, record) : "")</tr>

        """
    }
    let gone: Markup =
      record.deviceValues == nil
      ? "<p>The device deleted the row.</p>" : row == nil ? "<p>The row is gone here.</p>" : ""
    return """
      \(gone)
      <div class="wide" tabindex="0"><table>
      <caption>Side by side; what differs from before is marked</caption>
      <thead><tr><th scope="col">Column</th><th scope="col">Before</th><th scope="col">Hub</th><th scope="col">Device</th>\
      <th scope="col">Row now</th>\(choices ? "<th scope=\"col\">Keep</th>" as Markup : "")</tr></thead>
      <tbody>
      \(lines)</tbody></table></div>
      """
  }

  /// The geometries in words. The full text of each geometry can be opened.
  private static func geometries(_ found: [ConflictGeometries], _ row: [Field]?) -> Markup {
    if found.isEmpty { return "" }
    let items = found.flatMap { geometries in
      geometries.sides(row: row).map { side -> Markup in
        """
        <li>\(geometries.column.text) \(side.place): \(geometries.words(of: side.geometry, side.change))
        <details><summary>Well-known text</summary>\(Words.clipped(side.geometry.wellKnownText))</details></li>

        """
      }
    }
    return "<h2>Geometries</h2>\n<ul>\n\(items)</ul>\n"
  }

  /// The choice of the value for a column. Columns are named by their index, because a column name may contain
  /// anything.
  private static func choice(_ place: Int, _ name: Name, _ record: ConflictRecord) -> Markup {
    func has(_ fields: [Field]?) -> Bool { fields?.contains { $0.name == name } == true }
    func option(_ value: String, _ words: String, isChosen: Bool = false) -> Markup {
      """
      <label><input type="radio" name="pick\(place)" value="\(value)"\(isChosen ? " checked" as Markup : "")> \(words)</label>
      """
    }
    return """
      <td><fieldset><legend>\(name.text)</legend>\(option("now", "as now", isChosen: true))\
      \(has(record.hubValues) ? option("hub", "hub") : "")\(has(record.deviceValues) ? option("device", "device") : "")\
      \(option("null", "nothing"))\(option("own", "this:"))\
      <input name="own\(place)" aria-label="Another value for \(name.text)"></fieldset></td>
      """
  }

  /// Decides one conflict. The row's mark comes from the page, so it proves that the person has seen the present row.
  func decide(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let id = try request.needed("id")
    let shown = try hub.conflict(id)
    let decision: ConflictDecision
    switch try request.needed("keep") {
    case "hub": decision = .hub
    case "device": decision = .device
    default:
      let columns = ConflictView(conflict: shown.conflict).columns(shown.row)
      decision = .set(try Self.chosen(request, shown.conflict.record, columns))
    }
    _ = try hub.resolve(id, decision, note: request.filled("note"), seen: .mark(try request.needed("row")))
    return .seeOther("conflict?id=\(percentEncoded(id))")
  }

  private static func chosen(_ request: WebRequest, _ record: ConflictRecord, _ columns: [Name]) throws
    -> [EnteredField]
  {
    let fields = columns.enumerated().compactMap { place, name -> EnteredField? in
      func value(_ fields: [Field]?) -> EnteredField? {
        fields?.first { $0.name == name }.map { EnteredField(name, .known($0.value)) }
      }
      switch request.value("pick\(place)") {
      case "hub": return value(record.hubValues)
      case "device": return value(record.deviceValues)
      case "null": return EnteredField(name, .known(.null))
      // A page in a browser must not read files of this machine.
      case "own": return EnteredField(name, .words(request.value("own\(place)") ?? "", file: nil))
      default: return nil
      }
    }
    if fields.isEmpty {
      throw UsageError("nothing was chosen: choose a value for at least one column, or keep one side as a whole")
    }
    return fields
  }
}
