import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// A medium that is plugged in, as the page of sticks shows it.
struct PluggedStick {
  let path: String
  /// The free bytes; nil: the medium cannot be read.
  let free: Int64?
  /// Whether `sync` has used the stick before.
  let isUsed: Bool

  /// The name that people see on their desktop: the last part of the path.
  var label: String { Paths.name(of: path) }

  /// The removable media that this machine has mounted, by their paths.
  static func all(_ platform: Platform) throws -> [PluggedStick] {
    let paths = Set(((try? platform.files.mounts()) ?? []).map(\.path))
    return try paths.filter { try Medium(of: $0, platform.files).isRemovable }.sorted().map { path in
      PluggedStick(
        path: path, free: try? platform.files.freeBytes(path),
        isUsed: (try? StickLayout(path).isUsed(platform.files)) == true)
    }
  }

  var freeWords: String {
    guard let free else { return "it cannot be read" }
    let tenths = ((free >> 20) * 10) >> 10
    return free < 1 << 30 ? "\(free >> 20) MiB free" : "\(tenths / 10).\(tenths % 10) GB free"
  }
}

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
