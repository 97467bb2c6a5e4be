import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A new device's folder, as a form describes it.
private struct NewDevice {
  static let names = ["name", "user", "into", "template", "keys"]

  let name: String
  let user: String
  let into: String
  let template: String?
  let secrets: EnrolledDevice.Secrets

  init(_ request: WebRequest) throws {
    name = try request.needed("name")
    user = try request.needed("user")
    into = try ConsoleSite.fullPath(request.needed("into"))
    template = try request.filled("template").map(ConsoleSite.fullPath)
    secrets = request.filled("keys") == "none" ? .none : .made
  }
}

extension ConsoleSite {
  /// The form for a new device's folder. If it is filled in, the page says what will happen.
  func provisioning(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    if request.filled("name") != nil { return try rehearsal(of: NewDevice(request), request, hub) }
    let users = Self.userChoice("The user it works for", try hub.users())
    return Self.frame(
      "Prepare a new device",
      users.text.isEmpty
        ? Self.noUserYet
        : """
        <p>The hub makes a folder that is ready for use: it has its keys, trusts this hub, and holds the rows that its
        user may see. No fingerprint has to be compared, because the keys are made here. Copy the folder to the
        device, and then delete it here. If the device has its own folder already,
        <a href="enrol">enrol its request</a>.</p>
        <form method="get" action="provision">
        <p><label for="name">Name: a-z, 0-9, - and _</label><br>
        <input id="name" name="name" maxlength="100" required></p>
        <p>\(users)</p>
        <p><label for="into">The folder to make, as a full path on this machine</label><br>
        <input id="into" name="into" size="50" placeholder="/media/card/satchel" required></p>
        <details><summary>More choices</summary>
        <p><label for="template">A database that the app made, without rows in the dataset's tables</label><br>
        <input id="template" name="template" size="50" placeholder="/home/office/empty.gpkg"></p>
        <p><label><input type="checkbox" name="keys" value="none"> Without secret keys: the device only receives</label>
        </p></details>
        <div class="bar"><button class="main">See what will happen ...</button></div>
        </form>
        """, at: .devices, open: try hub.openConflicts())
  }

  private func rehearsal(of new: NewDevice, _ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let made = try make(new, in: rehearsing(), .dryRun)
    let keys: Markup =
      new.secrets == .made
      ? """
      <p class="warning">The folder holds secret keys. Who has a copy of it can deliver in the name of
      \(made.name).</p>
      """ : "<p class=\"notice\">The device gets no secret keys: it only receives.</p>"
    return Self.frame(
      "Prepare the device \(made.name)",
      """
      <h2>What will happen</h2>
      <p class="notice">The folder <code>\(new.into)</code> is made for the device \(made.name) of the user
      \(made.user), with these rows:</p>
      \(try hub.scope(of: made.user).markup(caption: "Rows of \(made.user)"))
      \(keys)
      <h2>How to undo it</h2>
      <p>The page of the device revokes it. Then delete the folder.</p>
      <form method="post" action="provision">
      \(Self.hidden(Self.filled(NewDevice.names, request)))
      <div class="bar"><button class="main">Make the folder of \(made.name) now</button>
      <a class="button" href="provision">Back, make nothing</a></div>
      </form>
      """, at: .devices, open: try hub.openConflicts())
  }

  private func make(_ new: NewDevice, in hub: HubWorkspace, _ runMode: RunMode) throws -> Provisioning.Made {
    try Medium(of: new.into, context.platform.files).refuseMissing()
    return try Provisioning(hub: hub, platform: context.platform).provision(
      new.name, user: new.user, into: new.into, template: new.template, secrets: new.secrets, runMode: runMode)
  }

  func provision(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let new = try NewDevice(request)
    let made = try make(new, in: hub, .commit)
    let isBare = try new.template == nil && hub.isGeoPackage()
    let bare: Markup = isBare ? "<p class=\"warning\">\(HubTool.bareGeoPackage)</p>\n" : ""
    return Self.frame(
      "Made",
      """
      <p class="notice" role="status">\(HubTool.text(of: made, in: new.into))</p>
      \(bare)<p>Copy the folder to the device, and delete it here.</p>
      <p><a class="button main" href="device?name=\(percentEncoded(made.name))">To the device</a></p>
      """, at: .devices, open: try hub.openConflicts())
  }
}
