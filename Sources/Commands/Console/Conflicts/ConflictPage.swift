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
    let query = try ConflictQuery(request, hub, by: context.platform.clock)
    let shown = try hub.conflict(request.needed("id"))
    let conflict = shown.conflict
    let layers = try hub.layers()
    let isOpen = conflict.record.state != .resolved
    let parts = try shown.parts.map { part in
      let sides = ConflictSides(part, layers: layers, isChoice: isOpen && !shown.isUnit)
      return """
        \(story(part, shown))
        \(sides.markup)
        \(Self.geometries(sides.view.geometries(part.row), part.row))
        \(try Self.files(part, sides.columns, hub))\(sides.others)
        """ as Markup
    }
    let unit: Markup =
      shown.isUnit ? "<p>A unit of \(Words.count(shown.parts.count, "change")), decided as one.</p>" : ""
    let below: Markup = shown.below.isEmpty ? "" : "<pre>\(ConflictView.text(below: shown.below).string)</pre>"
    let next = try hub.conflict(after: conflict, query.filter)
    return Self.frame(
      Self.title(conflict),
      """
      \(Self.before(request, query))\(unit)\(decision(conflict))
      \(isOpen ? Self.form(shown, parts, query, next?.left ?? 0) : "\(parts)\(Self.onward(next, query))")\(below)
      """, at: .conflicts, open: try hub.openConflicts())
  }

  private static func title(_ conflict: StoredConflict) -> String {
    let record = conflict.record
    let name = conflict.label.map { Words.value($0) } ?? Words.key(record.key)
    return "\(Words.short(record.table.text)): \(Words.short(name))"
  }

  /// The link back to the list. If the person has just decided another conflict, a link to that conflict too.
  private static func before(_ request: WebRequest, _ query: ConflictQuery) -> Markup {
    let done: Markup =
      request.filled("done").flatMap { ConflictID($0) }.map {
        "<p class=\"notice\" role=\"status\">Decided. <a href=\"conflict?id=\($0.text)\">See the last one</a></p>\n"
      } ?? ""
    return "<p><a href=\"conflicts?\(query.address.dropFirst())\">Back to the list</a></p>\n\(done)"
  }

  private func decision(_ conflict: StoredConflict) -> Markup {
    guard let decision = conflict.decision else { return "" }
    return """
      <form method="post" action="reopen" class="notice"><p>\(decision.made.rawValue) by \(decision.by), \
      \(local(decision.at)).</p>
      <input type="hidden" name="id" value="\(conflict.record.id.text)">
      <button>Take this decision back</button></form>
      """
  }

  private static func onward(_ next: (id: ConflictID, left: Int64)?, _ query: ConflictQuery) -> Markup {
    guard let next else { return "" }
    return """
      <p><a class="button main" href="conflict?id=\(next.id.text)\(query.address)">\
      Next (\(Words.grouped(next.left)) left)</a></p>
      """
  }

  private func story(_ part: ShownConflict.Part, _ shown: ShownConflict) -> Markup {
    let record = part.conflict.record
    let key = String(decoding: canonicalKey(record.key), as: UTF8.self)
    let address = "row?table=\(percentEncoded(record.table.text))&key=\(percentEncoded(key))"
    return """
      <p>\(ConflictView.row(of: part.conflict)): \(ConflictView.explain(record)). \
      Change by \(record.user) on \(shown.device), \
      \(local(record.stamp.milliseconds)). State: \(record.state.rawValue). \
      <a href="\(address)">The row's history</a></p>
      \(part.conflict.isReported ? "<p>\(ConflictView.reported(by: shown.device))</p>" as Markup : "")\
      \(record.isTakenLate ? "<p>\(ConflictView.takenLate)</p>" : "" as Markup)\
      \(record.note.map { "<p>Note: \($0)</p>" as Markup } ?? "")
      """
  }

  /// The form for the decision. If a person types Enter in a field, the browser presses the first button. So the first
  /// button must decide nothing by itself. For a single conflict, it does nothing if no column was chosen. A unit is
  /// decided as a whole, without a choice for each column, so its first button is disabled.
  private static func form(
    _ shown: ShownConflict, _ parts: [Markup], _ query: ConflictQuery, _ left: Int64
  ) -> Markup {
    let next = left > 0 ? " and next (\(Words.grouped(left)) left)" : ""
    let address: Markup = left > 0 ? "conflict?then=next\(query.address)" : "conflict"
    let columns: Markup =
      shown.isUnit
      ? "<button disabled hidden></button>\n"
      : "<button class=\"main\" name=\"keep\" value=\"columns\">Decide\(next)</button>\n"
    let stay: Markup =
      shown.isUnit || left == 0
      ? "" : "\n<button name=\"keep\" value=\"columns\" formaction=\"conflict\">Decide and stay</button>"
    return """
      <form method="post" action="\(address)">
      <input type="hidden" name="id" value="\(shown.conflict.record.id.text)">
      <input type="hidden" name="row" value="\(shown.mark)">
      \(parts)
      <p><label for="note">Reason, for later readers</label><br>
      <input id="note" name="note" maxlength="500" size="50"></p>
      <div class="bar">\(columns)<button name="keep" value="hub">Keep all of the hub</button>
      <button name="keep" value="device">Take all of the device</button>\(stay)</div>
      </form>
      """
  }

  /// The geometries as a picture and in words. The full text of each geometry can be opened.
  private static func geometries(_ found: [ConflictGeometries], _ row: [Field]?) -> Markup {
    if found.isEmpty { return "" }
    let lines = ["base": "dotted line", "hub": "full line", "device": "dashed line"]
    let pieces = found.map { geometries -> Markup in
      let sides = geometries.sides(row: row)
      let styles = ["base": "before", "hub": "hub", "device": "device"]
      let picture = GeometryPicture(
        sides.compactMap { side in styles[side.name].map { .init(style: $0, geometry: side.geometry) } })
      let items = sides.map { side -> Markup in
        """
        <li>\(geometries.column.text) \(side.place)\(lines[side.name].map { " (\($0))" } ?? ""): \
        \(geometries.words(of: side.geometry, side.change))
        <details><summary>Well-known text</summary>\(Words.clipped(side.geometry.wellKnownText))</details></li>

        """
      }
      let label = "The geometries of \(geometries.column.text), as the list below describes them"
      return "\(picture?.markup(label: label) ?? "")\n<ul>\n\(items)</ul>\n"
    }
    return "<h2>Geometries</h2>\n\(pieces)"
  }

  /// The files that the sides name in the conflict's columns: small pictures are shown, others are named.
  private static func files(_ part: ShownConflict.Part, _ columns: [Name], _ hub: HubWorkspace) throws -> Markup {
    let record = part.conflict.record
    let marked = try hub.fileColumns(of: record.table).filter { columns.contains($0) }
    let sides = [("before", record.baseValues), ("hub", record.hubValues), ("device", record.deviceValues)]
    let items = try marked.flatMap { column in
      try sides.compactMap { side, fields -> Markup? in
        guard let value = fields?.first(where: { $0.name == column })?.value, case .text(let bytes) = value else {
          return nil
        }
        let path = String(decoding: bytes, as: UTF8.self)
        return "<li>\(column.text), \(side): \(try file(path, hub))</li>\n"
      }
    }
    return items.isEmpty ? "" : "<h2>Files</h2>\n<ul>\n\(items)</ul>\n"
  }

  /// Decides one conflict. The page sends the mark of the row that it showed. So the mark proves that the person has
  /// seen the present row.
  func decide(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let id = try request.needed("id")
    let query = try ConflictQuery(request, hub, by: context.platform.clock)
    let shown = try hub.conflict(id)
    let decision: ConflictDecision
    switch try request.needed("keep") {
    case "hub": decision = .hub
    case "device": decision = .device
    default:
      let columns = ConflictView(conflict: shown.conflict).columns(shown.row)
      decision = .set(try ConflictChoice(request, shown.conflict, columns).fields)
    }
    _ = try hub.resolve(id, decision, note: request.filled("note"), seen: .mark(try request.needed("row")))
    guard request.value("then") == "next" else { return .seeOther("conflict?id=\(percentEncoded(id))") }
    let next = try hub.conflict(after: shown.conflict, query.filter)
    let page = next.map { "conflict?id=\($0.id.text)" } ?? "conflicts?"
    return .seeOther("\(page)\(query.address)&done=\(percentEncoded(id))")
  }
}
