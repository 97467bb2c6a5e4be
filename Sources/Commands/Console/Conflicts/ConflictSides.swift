import SatchelConflicts
import SatchelSQLite
import SatchelValues

/// The sides of a conflict as a table with a row for each column. A value is chosen by a click on it.
struct ConflictSides {
  private let part: ShownConflict.Part
  let view: ConflictView
  let columns: [Name]
  /// Whether values can be chosen.
  private let isChoice: Bool
  private var record: ConflictRecord { part.conflict.record }

  init(_ part: ShownConflict.Part, layers: [Layer], isChoice: Bool) {
    (self.part, self.isChoice) = (part, isChoice)
    view = ConflictView(conflict: part.conflict, layers: layers)
    columns = view.columns(part.row)
  }

  /// The columns with their index. The columns in which the hub and the device differ come first.
  private var ordered: [(place: Int, name: Name)] {
    let all = columns.enumerated().map { (place: $0, name: $1) }
    func differs(_ name: Name) -> Bool { cell(name, record.hubValues) != cell(name, record.deviceValues) }
    return all.filter { differs($0.name) } + all.filter { !differs($0.name) }
  }

  private func cell(_ name: Name, _ fields: [Field]?) -> String { ConflictView.cell(name, fields) }

  private func isText(_ name: Name, _ fields: [Field]?) -> Bool {
    if case .text? = fields?.first(where: { $0.name == name })?.value { true } else { false }
  }

  /// Whether the row now has a value that is neither the hub's nor the device's.
  private var isOther: Bool {
    columns.contains { name in
      let now = cell(name, part.row)
      return now != cell(name, record.hubValues) && now != cell(name, record.deviceValues)
    }
  }

  var markup: Markup {
    let gone: Markup =
      record.deviceValues == nil
      ? "<p>The device deleted the row.</p>" : part.row == nil ? "<p>The row is gone here.</p>" : ""
    let help: Markup =
      isChoice
      ? "<p>Choose a value in each line by a click, or type one. A column without a choice stays as it is.</p>"
      : ""
    return """
      \(gone)\(help)
      <table class="sides">
      <caption>Side by side; a value that differs from before is marked</caption>
      <thead><tr><th scope="col">Column</th><th scope="col">Before</th><th scope="col">Hub</th>\
      <th scope="col">Device</th>\
      \(isOther ? "<th scope=\"col\">Row now</th>" as Markup : "")\
      \(isChoice ? "<th scope=\"col\">Another value</th>" as Markup : "")</tr></thead>
      <tbody>
      \(ordered.map(line))</tbody></table>
      """
  }

  private func line(_ place: Int, _ name: Name) -> Markup {
    let now: Markup = isOther ? side("now", "Row now", part.row, place, name) : ""
    return """
      <tr><th scope="row">\(name.text)</th>\(side("base", "Before", part.conflict.knownBaseValues, place, name))\
      \(side("hub", "Hub", record.hubValues, place, name))\
      \(side("device", "Device", record.deviceValues, place, name))\(now)\
      \(isChoice ? own(place, name) : "")</tr>

      """
  }

  private func side(_ word: String, _ title: String, _ fields: [Field]?, _ place: Int, _ name: Name) -> Markup {
    let before = ConflictView.before(name, of: part.conflict)
    let words = word == "base" ? before : cell(name, fields)
    let isKnown = record.baseValues != nil && !part.conflict.lacksStart(name)
    let start = isKnown ? before : cell(name, record.hubValues)
    let differs = word == "hub" || word == "device" ? words != before : false
    let text: Markup =
      (differs && isText(name, fields) ? WordDifference(from: start, to: words)?.markup : nil)
      ?? "\(Words.clipped(words))"
    let isNow = !isOther && word != "base" && words == cell(name, part.row) && part.row != nil
    let note: Markup = isNow && isChoice ? " <small>(now)</small>" : ""
    let has = fields?.contains { $0.name == name } == true
    let inner: Markup =
      isChoice && has
      ? """
      <label class="pick"><input type="radio" name="pick\(place)" value="\(word)"> \
      <span class="hidden">\(name.text), \(title): </span>\(text)\(note)</label>
      """ : "\(text)\(note)"
    return "<td data-label=\"\(title)\"\(differs ? " class=\"differs\"" as Markup : "")>\(inner)</td>"
  }

  /// The cell in which a person can type another value, or choose NULL.
  private func own(_ place: Int, _ name: Name) -> Markup {
    """
    <td data-label="Another value"><label class="pick"><input type="radio" name="pick\(place)" value="own" \
    id="own\(place)"> <span class="hidden">\(name.text), </span>this: </label>\
    <input name="own\(place)" data-own="own\(place)" aria-label="Another value for \(name.text)">\
    <label class="pick"><input type="radio" name="pick\(place)" value="null"> \
    <span class="hidden">\(name.text), </span>nothing (NULL)</label></td>
    """
  }

  /// The most other columns that are shown.
  private static let mostOthers = 40

  /// The columns of the row that are not in the conflict. They show what the row is about.
  var others: Markup {
    let rest = (part.row ?? []).filter { !columns.contains($0.name) }
    if rest.isEmpty { return "" }
    let items = rest.prefix(Self.mostOthers).map { field -> Markup in
      "<dt>\(field.name.text)</dt><dd>\(Words.beginning(Words.value(field.value), 300))</dd>\n"
    }
    let more = rest.count - Self.mostOthers
    return """
      <details\(rest.count <= 8 ? " open" as Markup : "")><summary>The row's other columns</summary>
      <dl>
      \(Array(items))</dl>\(more > 0 ? "<p>And \(more) more.</p>" as Markup : "")</details>
      """
  }
}
