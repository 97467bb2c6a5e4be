import SatchelHub
import SatchelPlatform
import SatchelWorkspace

/// The page of the backup and of the doctor.
extension ConsoleSite {
  func upkeep(_ hub: HubWorkspace) throws -> WebResponse {
    let status = try hub.status()
    let age =
      status.backedUp.map { "The last backup was made \(Words.age(of: $0, now: now))." } ?? "There is no backup yet."
    let name = "hub-\(context.platform.clock.localDay(milliseconds: now)).satchel"
    let places = try PluggedStick.all(context.platform).map { stick -> Markup in
      "<option value=\"\(Paths.join(stick.path, name))\"></option>"
    }
    return Self.frame(
      "Upkeep",
      """
      <h2 id="backup">Backup</h2>
      <p class="\(status.backedUp == nil ? "warning" : "notice")">\(age)</p>
      <form method="post" action="backup">
      <p><label for="file">The file to write, with its whole path: on another disk or on a stick</label><br>
      <input id="file" name="file" size="50" list="places" required placeholder="/media/safe/\(name)">
      <datalist id="places">\(places)</datalist>
      <button class="main">Back up now</button></p>
      </form>
      <p class="quiet">The file has everything except the secret keys. Keep a copy of the folder <code>keys</code> in
      another place. The hub goes on meanwhile.</p>
      <h2 id="doctor">Doctor</h2>
      <p>The doctor compares every row and every bundle with what was signed, and says what to do about each fault. It
      changes nothing. With many rows it takes some minutes.</p>
      <form method="post" action="doctor"><button>Examine the hub</button></form>
      """, at: .upkeep, open: status.openConflicts)
  }

  /// Begins a backup.
  func backUp(_ request: WebRequest) throws -> WebResponse {
    let path = try Self.fullPath(request.needed("file"))
    return try begin(ConsoleTask("Back up the hub", at: .upkeep, words: ["backup", "--", path], on: command))
  }

  /// Begins the doctor's work: an examination, or a repair.
  func doctor(_ request: WebRequest) throws -> WebResponse {
    if request.value("repair") == "1" {
      let deleted = request.value("deleted") == "1" ? ["--deleted"] : []
      return try begin(
        ConsoleTask(
          "Repair the hub", at: .upkeep, words: ["doctor", "--repair"] + deleted, on: command,
          ifFailed: "Something is left to do:"))
    }
    return try begin(
      ConsoleTask(
        "Examine the hub", at: .upkeep, words: ["doctor"], on: command, ifFailed: "The doctor found this:",
        next: { $0 == .failed ? Self.repair : "" }))
  }

  private static let repair: Markup = """
    <h2>The way out</h2>
    <p>A line that is indented says what a person must do. The repair does the rest: it installs capture again, and
    records changes that capture did not see. Nothing is thrown away.</p>
    <form method="post" action="doctor">
    <p><label><input type="checkbox" name="deleted" value="1"> Rows that are missing from a recreated table were
    deleted on purpose. Do not put them back.</label></p>
    <p><button class="main" name="repair" value="1">Repair what can be repaired</button></p>
    </form>
    """
}
