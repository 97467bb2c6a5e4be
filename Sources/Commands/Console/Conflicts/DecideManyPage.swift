import SatchelConflicts
import SatchelDataset
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A rule by which many conflicts are decided.
enum DecisionRule: String, CaseIterable {
  case hub, device, newest

  var policy: Policy {
    switch self {
    case .hub: .hub
    case .device: .device
    case .newest: .newest
    }
  }

  var words: String {
    switch self {
    case .hub: "keep the hub's values"
    case .device: "take the devices' values"
    case .newest: "take the later change, each time"
    }
  }

  /// The effect of the rule, for people who have not decided yet.
  var effect: String {
    switch self {
    case .hub:
      """
      The hub's rows stay as they are. With the next bundles, the devices get the hub's values in place of their own.
      """
    case .device:
      """
      The devices' values are written over the hub's values. With the next bundles, all devices that see these rows \
      get them.
      """
    case .newest:
      """
      For each conflict the later change counts, by the clocks of the hub and of the devices. If it is the device's, \
      it is written over the hub's value.
      """
    }
  }
}

extension WebRequest {
  fileprivate var rule: DecisionRule {
    get throws {
      guard let rule = DecisionRule(rawValue: try needed("policy")) else {
        throw UsageError("the rule is hub, device or newest")
      }
      return rule
    }
  }
}

/// Decisions about many conflicts: first a page that says what will happen, then the decision.
extension ConsoleSite {
  /// The most conflicts for which the page tries the decision out first. For more, that takes too long.
  private static let mostTried: Int64 = 200
  /// The most conflicts that the answer lists one by one.
  private static let mostListed = 50

  /// The filter of a request. If the request is not about all conflicts, only the chosen conflicts.
  private func chosen(_ request: WebRequest, _ hub: HubWorkspace) throws -> ConflictQuery {
    var query = try ConflictQuery(request, hub, by: context.platform.clock)
    if request.value("all") == "1" { return query }
    let ids = request.all("id").compactMap { ConflictID($0) }
    if ids.isEmpty { throw UsageError("no conflict is chosen: check the boxes of some, or decide for all") }
    query.limit(to: ids)
    return query
  }

  /// Says what a decision about many conflicts will do. Decides nothing.
  func rehearsal(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let rule = try request.rule
    let query = try chosen(request, hub)
    let found = try hub.countConflicts(query.filter)
    if found.total == 0 { throw UsageError("none of these conflicts waits any more") }
    let subjects = query.filter.ids.map { ids in
      ids.map { "<input type=\"hidden\" name=\"id\" value=\"\($0.text)\">" as Markup }
    }
    let counts = StatusSheet.Table(
      titles: ["Table", "The reason", "Conflicts"], numbers: [2],
      rows: found.counts.prefix(Self.mostListed).map {
        [$0.table.text, ConflictView.explain($0.kind), Words.grouped($0.count)]
      })
    return Self.frame(
      "Decide \(Words.grouped(found.total)) \(found.total == 1 ? "conflict" : "conflicts")",
      """
      <h2>What will happen</h2>
      <p class="notice"><strong>The rule: \(rule.words).</strong> \(rule.effect)</p>
      \(counts.markup(caption: "The conflicts"))
      \(try trial(rule, query, found))
      <h2>How to undo it</h2>
      <p>The page after the decision takes all of them back, and the page of each conflict takes one back. So does
      <code>satchel-hub conflicts reopen</code> later. The rows then get their values from before, except values that
      were changed again since. Each conflict keeps both values in any case.</p>
      <form method="post" action="conflicts">
      \(query.hidden)\(subjects.map { "\($0)" as Markup } ?? "<input type=\"hidden\" name=\"all\" value=\"1\">")
      <input type="hidden" name="policy" value="\(rule.rawValue)">
      <input type="hidden" name="seen" value="\(found.mark.text)">
      <p><label for="note">Reason, for later readers</label><br>
      <input id="note" name="note" maxlength="500" size="50"></p>
      <div class="bar"><button class="main">Decide \(Words.grouped(found.total)) now: \(rule.words)</button>
      <a class="button" href="conflicts?\(query.address.dropFirst())">Back, decide nothing</a></div>
      </form>
      """, at: .conflicts, open: try hub.openConflicts())
  }

  /// Tries the decision out, in a transaction that is rolled back.
  private func trial(_ rule: DecisionRule, _ query: ConflictQuery, _ found: ConflictCounts) throws -> Markup {
    let rest: Markup = """
      <p>A conflict is left as it is if its row was changed since, if its user may not make the change, or if the rule
      does not fit it. So is a conflict about a counter or a set if no rule can compute the right value. The next page
      names each of them.</p>
      """
    if found.total > Self.mostTried { return rest }
    let hub = try HubWorkspace.open(command.directory, platform: context.platform, runMode: .dryRun)
    let result = try hub.resolveAll(rule.policy, query.filter, expected: found.mark, note: nil)
    return """
      <p>\(Words.count(result.resolved.count, "conflict")) will be decided\
      \(result.left.isEmpty ? "." : ", and \(result.left.count) left as they are:")</p>
      \(Self.list(result.left))
      """
  }

  private static func list(_ left: [(record: ConflictRecord, why: WorkspaceError)]) -> Markup {
    if left.isEmpty { return "" }
    let items = left.prefix(mostListed).map { record, why -> Markup in
      """
      <li><a href="conflict?id=\(record.id.text)">\(record.table.text) [\(Words.short(Words.key(record.key)))]</a>: \
      \(Words.clipped(why.message))</li>

      """
    }
    let more = left.count - mostListed
    return
      "<ul>\n\(Array(items))</ul>\n\(more > 0 ? "<p>And \(more) more, in the list of conflicts.</p>" as Markup : "")"
  }

  /// Decides many conflicts by a rule, if they are still the conflicts that the person saw.
  func decideMany(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let rule = try request.rule
    let seen = ConflictSetMark(try request.needed("seen"))
    let query = try chosen(request, hub)
    let start = now
    let result = try hub.resolveAll(rule.policy, query.filter, expected: seen, note: request.filled("note"))
    let rest: Markup =
      result.left.isEmpty
      ? "" : "<p>\(Words.count(result.left.count, "conflict")) left, because:</p>\n\(Self.list(result.left))"
    return Self.frame(
      "Decided",
      """
      <p class="notice" role="status">\
      \(Words.count(result.resolved.count, "conflict")) decided by the rule \(rule.rawValue).</p>
      \(rest)<p><a class="button main" href="conflicts">To the conflicts</a>
      <a class="button" href="reopen?since=\(start)">Take them back ...</a></p>
      """, at: .conflicts, open: try hub.openConflicts())
  }
}
