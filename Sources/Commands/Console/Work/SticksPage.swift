import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The page of the sticks that are plugged in, and the sync of one of them.
extension ConsoleSite {
  func sticks(_ hub: HubWorkspace) throws -> WebResponse {
    let sticks = try PluggedStick.all(context.platform)
    let cards = sticks.map(Self.card)
    return Self.frame(
      "Sticks",
      """
      <p>Sync takes in what a stick brings, makes the bundles that are due, puts them on the stick, and says when the
      stick is safe to remove.</p>
      \(sticks.isEmpty ? Self.noStick : "<ul class=\"cards\">\n\(cards)</ul>\n")
      <p><a class="button" href="sticks">Look again</a></p>
      <details\(sticks.isEmpty ? " open" as Markup : "")><summary>A folder in place of a stick</summary>
      <form method="post" action="sync">
      <p><label for="folder">The whole path of the folder</label><br>
      <input id="folder" name="stick" size="40" required placeholder="/srv/carried">
      <button>Sync this folder</button></p>
      </form></details>
      <p class="quiet">A file that came without a stick: <a href="./#import">bring it in</a>. A bundle for a message or
      for another stick: <a href="emit">make and download it</a>.</p>
      """, at: .sticks, open: try hub.openConflicts())
  }

  private static let noStick: Markup = """
    <p class="card warn">No stick is plugged in, or this machine has not mounted it yet. Plug it in, open it once in the
    file manager, and look again.</p>
    """

  private static func card(_ stick: PluggedStick) -> Markup {
    """
    <li class="card"><h3>\(stick.label)</h3><p>\(stick.freeWords), \
    \(stick.isUsed ? "carries bundles" : "not used by Satchel yet")</p><p class="quiet">\(stick.path)</p>
    <form method="post" action="sync"><button class="main" name="stick" value="\(stick.path)">Sync \
    \(stick.label)</button></form></li>

    """
  }

  /// Begins the sync of a stick.
  func sync(_ request: WebRequest) throws -> WebResponse {
    let path = try Self.fullPath(request.needed("stick"))
    return try begin(
      ConsoleTask(
        "Sync \(Paths.name(of: path))", at: .sticks, words: ["sync", "--", path], on: command,
        next: { _ in "<p><a href=\"conflicts?state=open\">Conflicts that wait</a></p>" }))
  }
}
