import SatchelBundle
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The page of a bundle that waits because it deletes or changes very many rows, and the decision about it.
extension ConsoleSite {
  /// The largest bundle, in bytes, that the page tries out when it is opened. For a larger bundle, a person starts the
  /// trial with a button, and it runs as a task of the console.
  private static let mostTried: Int64 = 128 << 10
  /// The most rows of a bundle that the page names.
  private static let mostRows = 25

  func braked(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (bundle, words) = try waiting(request, hub)
    let device = try hub.devices().first { $0.name == bundle.device }
    let isSmall = try context.platform.files.size(bundle.path) <= Self.mostTried
    let who = device.map { "the user \($0.user) of \(bundle.device)" } ?? "the user of \(bundle.device)"
    return Self.frame(
      "Bundle \(bundle.name) waits for you",
      """
      <p class="warning">\(words)</p>
      <p>Ask \(who) whether this was meant. Until you decide, nothing of the bundle is taken, and nothing of it is
      lost.</p>
      \(isSmall ? try trial(of: bundle) + rows(of: bundle, hub) : Self.tryOut(bundle))
      <h2>Decide</h2>
      <form method="post" action="braked">
      <input type="hidden" name="bundle" value="\(bundle.name)">
      <p><label><input type="checkbox" name="asked" value="1" required>
      I have asked, and I know what was meant.</label></p>
      <div class="bar">
      <button name="decision" value="accept">Accept: merge all its changes</button>
      <button name="decision" value="reject">Reject: keep the hub's rows</button>
      <a class="button" href="bundles#waiting">Decide later</a></div>
      </form>
      <p class="quiet">If you accept, the changes are made here, and they travel to all devices that see these rows.
      <code>satchel-hub revert \(bundle.name)</code> reverts them later. If you reject, the changes become conflicts
      that are decided for the hub's rows. The next bundle for the device gives it these rows back.</p>
      """, at: .bundles, open: try hub.openConflicts())
  }

  /// The bundle that a request names, and why it waits.
  private func waiting(_ request: WebRequest, _ hub: HubWorkspace) throws -> (bundle: WaitingBundle, words: String) {
    let name = try request.needed("bundle")
    for bundle in try hub.waiting() where bundle.name == name {
      if case .braked(let words) = bundle.reason { return (bundle, words) }
    }
    throw WorkspaceError(
      .noBundle, "No bundle \"\(name)\" waits for a decision.", hint: "The Bundles page lists the bundles that wait.")
  }

  private static func tryOut(_ bundle: WaitingBundle) -> Markup {
    """
    <form method="post" action="try-braked">
    <p>The bundle is large. <button name="bundle" value="\(bundle.name)">Try out what it would change</button></p>
    </form>
    """
  }

  /// Merges the bundle in a transaction that is rolled back, and shows what changed.
  private func trial(of bundle: WaitingBundle) throws -> Markup {
    let hub = try HubWorkspace.open(command.directory, platform: context.platform, runMode: .dryRun)
    let report = try hub.importBundle(bundle.path, brake: .accept)
    let table = StatusSheet.Table(
      titles: ["Table", "New rows", "Changed", "Deleted"], numbers: [1, 2, 3],
      rows: report.tally.tables.map { name, counts in
        [name.text, String(counts.inserted), String(counts.updated), String(counts.deleted)]
      })
    let conflicts: Markup =
      report.conflicts > 0
      ? "<p>It would also make \(Words.count(report.conflicts, "conflict")), because others changed the same rows.</p>"
      : ""
    return """
      <h2>What it would change</h2>
      \(table.markup(caption: "Rows at the hub, if you accept"))\(conflicts)
      """
  }

  /// The first rows that the bundle deletes or changes, with the values from before.
  private func rows(of bundle: WaitingBundle, _ hub: HubWorkspace) throws -> Markup {
    let most = Self.mostRows
    let found = try hub.verify(bundle.path) { content in
      var found = (rows: [[String]](), count: 0)
      try content.eachChange { line in
        guard let words = Self.loss(line.content) else { return }
        found.count += 1
        if found.count <= most { found.rows.append([line.table.text, Words.key(line.key), words.what, words.values]) }
      }
      return found
    }
    if found.rows.isEmpty { return "" }
    let table = StatusSheet.Table(titles: ["Table", "Row", "Change", "Values"], rows: found.rows)
    let more = found.count > most ? ", the first \(most) of \(found.count)" : ""
    return table.markup(caption: "Rows that it deletes or changes\(more)")
  }

  /// The values that a change deletes or replaces. nil: it does neither.
  private static func loss(_ content: ChangeLine.Content) -> (what: String, values: String)? {
    func list(_ fields: [Field]) -> String {
      fields.map { "\($0.name): \(Words.short(Words.value($0.value)))" }.prefix(8).joined(separator: "\n")
    }
    switch content {
    case .delete(let was): return ("deleted", list(was))
    case .update(let set, let was):
      let pairs = zip(was, set).map { was, set in
        "\(set.name): \(Words.short(Words.value(was.value))) -> \(Words.short(Words.value(set.value)))"
      }
      return ("changed", pairs.prefix(8).joined(separator: "\n"))
    default: return nil
    }
  }

  /// Begins to try a large bundle out, in a transaction that is rolled back.
  func tryBraked(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let name = try waiting(request, hub).bundle.name
    return try begin(
      ConsoleTask(
        "Try the bundle \(name) out", at: .bundles, words: ["import", "--dry-run", "--accept=\(name)"], on: command,
        next: { _ in
          "<p><a class=\"button main\" href=\"braked?bundle=\(percentEncoded(name))\">Decide about it</a></p>"
        }))
  }

  /// Begins to merge or to reject a bundle that waits.
  func decideBraked(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let name = try waiting(request, hub).bundle.name
    guard request.value("asked") == "1" else {
      throw UsageError("nothing was decided: ask the user first, and then tick the box that says so")
    }
    let decision = try request.needed("decision")
    guard ["accept", "reject"].contains(decision) else { throw UsageError("the decision is accept or reject") }
    return try begin(
      ConsoleTask(
        "\(decision == "accept" ? "Accept" : "Reject") the bundle \(name)", at: .bundles,
        words: ["import", "--\(decision)=\(name)"], on: command))
  }
}
