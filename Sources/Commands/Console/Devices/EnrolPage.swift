import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The enrolment of a device that asks to join, in three pages: the form, the comparison with what will happen, and the
/// result. If the request continues another device, a page before the comparison says so. No page shows the request's
/// fingerprint before a person has typed it, because a person in a hurry would copy it.
extension ConsoleSite {
  /// The largest request file. Its bytes are in the second page, which stays below 20 KB.
  private static let mostRequest = 10 << 10

  private static let enrolFields = ["user", "name", "fingerprint", "continues"]

  // MARK: The form

  func enrolment(_ hub: HubWorkspace) throws -> WebResponse {
    let users = Self.userChoice("The user it works for", try hub.users())
    return Self.frame(
      "Enrol a device",
      users.text.isEmpty
        ? Self.noUserYet
        : """
        \(Self.ceremony)
        <form method="post" action="enrol" enctype="multipart/form-data">
        <p><label for="file">The request file, chosen or dropped here</label><br>
        <input type="file" id="file" name="file" accept=".satchel"></p>
        <p><label for="path">Or its full path on this machine, such as on a stick</label><br>
        <input id="path" name="path" size="50" placeholder="/media/stick/tablet-1.satchel"></p>
        <p>\(users)</p>
        <p><label for="name">Another name than the device asks for (usually empty)</label><br>
        <input id="name" name="name" maxlength="100"></p>
        \(Self.fingerprintField)
        <details><summary>The device was another device before, and lost its key</summary>
        <p><label for="continues">Its former name, if you know that this is true</label><br>
        <input id="continues" name="continues" maxlength="100"></p></details>
        <div class="bar"><button class="main">Compare ...</button>
        <small>The next page says what will happen. Nothing is enrolled before.</small></div>
        </form>
        """, at: .devices, open: try hub.openConflicts())
  }

  private static let ceremony: Markup = """
    <h2>Why two people compare a fingerprint</h2>
    <p>The request file came by a stick or by mail. On its way, a stranger could have put another file in its place, to
    get your rows. The fingerprint shows whether this is the device's own file. It must come to you on another way than
    the file: by telephone, or because you look at the device.</p>
    <ol>
    <li>Call the person who has the device. You must know the voice. A message beside the file proves nothing.</li>
    <li>The person reads out the fingerprint that the device shows. To see it again: <code>satchel keys show</code></li>
    <li>You type it below, group by group. Small letters and missing hyphens do no harm.</li>
    </ol>
    <p>This page compares it with the file. It does not show the fingerprint of the file first, so that it can only come
    from the device.</p>
    """

  private static let fingerprintField: Markup = """
    <p><label for="fingerprint">The fingerprint, as it is read out to you</label><br>
    <input id="fingerprint" name="fingerprint" size="50" maxlength="200" autocomplete="off" required
    placeholder="XXXX-XXXX-XXXX-XXXX-XXXX-XXXX-XXXX-XXXX-XX"></p>
    """

  // MARK: The comparison

  /// Calls `body` with the request of a form. The request is an uploaded file, a file of this machine, or bytes in the
  /// form.
  private func withRequest<T>(
    _ request: WebRequest, _ hub: HubWorkspace, _ body: (EnrolmentRequest, _ bytes: [UInt8]) throws -> T
  ) throws -> T {
    func read(_ path: String) throws -> T {
      let found = try EnrolmentRequest(at: path, hub)
      return try body(found, context.platform.files.read(path, limit: Self.mostRequest))
    }
    if let path = (request.files as? ConsoleUpload)?.paths.values.min() { return try read(path) }
    if let path = request.filled("path") { return try read(Self.fullPath(path)) }
    guard var bytes = request.filled("request").flatMap({ Base64.decode(Array($0.utf8)) }) else {
      throw UsageError("no file was chosen: choose the device's request file, or write its path")
    }
    var arriving = try ArrivingFiles(in: hub.folder, platform: context.platform)
    return try read(
      arriving.take("request.satchel") {
        defer { bytes = [] }
        return bytes
      })
  }

  /// Compares the typed fingerprint, and says what the enrolment will do. Enrols nothing.
  func comparison(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (user, typed, former) = (
      try request.needed("user"), request.filled("fingerprint"), request.filled("continues")
    )
    return try withRequest(request, hub) { asking, bytes in
      try asking.checkClaim(trusting: former)
      let fields =
        Self.filled(Self.enrolFields, request)
        + [("request", String(decoding: Base64.encode(bytes), as: UTF8.self))]
      if let words = asking.claimWords, request.filled("claim") != words {
        return Self.claim(words, of: asking.name, fields, open: try hub.openConflicts())
      }
      try asking.compare(typed: typed)
      // The dry run of the enrolment throws before the page shows the form, if the hub refuses the device.
      let device = try asking.at(rehearsing()).enrol(as: request.filled("name"), user: user, trusting: former)
      return Self.frame(
        "Enrol the device \(device.name)",
        """
        <h2>The fingerprints agree</h2>
        \(Self.sideBySide(read: asking.fingerprint, file: asking.fingerprint))
        <h2>What will happen</h2>
        \(asking.claimWords.map { "<p class=\"warning\">\($0)</p>" as Markup } ?? "")
        <p class="notice">\(device.name) is enrolled for \(user). Its first bundle is made, and brings all rows
        that \(user) may see:</p>
        \(try hub.scope(of: user).markup(caption: "Rows of \(user)"))
        <h2>How to undo it</h2>
        <p>The page of the device revokes it. Rows that it received stay on it.</p>
        <form method="post" action="enrol-now">
        \(Self.hidden(fields))
        <div class="bar"><button class="main">Enrol \(device.name) now</button>
        <a class="button" href="enrol">Back, enrol nothing</a></div>
        </form>
        """, at: .devices, open: try hub.openConflicts())
    }
  }

  /// The page that says which device a request continues, and then asks for the fingerprint. A fingerprint from the
  /// first form does not count, because it was typed before the person read this statement.
  /// - Parameters:
  ///   - words: the statement. The form sends it back, as a sign that the person has read it.
  ///   - fields: the fields of the first form, and the request.
  private static func claim(
    _ words: String, of name: String, _ fields: [(name: String, value: String)], open: Int64
  ) -> WebResponse {
    let kept = fields.filter { $0.name != "fingerprint" } + [(name: "claim", value: words)]
    return frame(
      "Enrol the device \(name)",
      """
      <h2>It was another device before</h2>
      <p class="warning">\(words)</p>
      <p>Ask the person who has the device whether this is true. Then let the fingerprint be read out to you, even if
      you have typed it already.</p>
      <form method="post" action="enrol">
      \(hidden(kept))
      \(fingerprintField)
      <div class="bar"><button class="main">Compare ...</button>
      <a class="button" href="enrol">Back, enrol nothing</a></div>
      </form>
      """, at: .devices, open: open)
  }

  /// A table of two equal fingerprints. Equal groups are below each other.
  private static func sideBySide(read: String, file: String) -> Markup {
    func row(_ title: String, _ text: String) -> [String] {
      [title] + text.split(separator: "-").map { String($0) }
    }
    let rows = [row("Read out at the device", read), row("In the request file", file)]
    let titles = ["Fingerprint"] + (1..<max(2, rows[0].count)).map { "Group \($0)" }
    return StatusSheet.Table(titles: titles, rows: rows).markup(caption: "Every group is the same")
  }

  // MARK: The result

  func enrol(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let (user, former) = (try request.needed("user"), request.filled("continues"))
    let (device, bundle) = try withRequest(request, hub) { asking, _ in
      try asking.checkClaim(trusting: former)
      try asking.compare(typed: request.filled("fingerprint"))
      return try asking.welcome(as: request.filled("name"), user: user, trusting: former)
    }
    return Self.frame(
      "Enrolled",
      """
      <p class="notice" role="status">Enrolled the device \(device.name) for the user \(device.user).</p>
      <ol>
      <li>Its first bundle is in <code>\(bundle.file)</code>: carry it to the device. The next sync of a stick takes it
      along.</li>
      <li>At the first import the device asks for the fingerprint of this hub, for the same reason. Read it out to the
      person who has the device:</li>
      </ol>
      \(Self.groups(try hub.fingerprint()))
      <p><a class="button main" href="device?name=\(percentEncoded(device.name))">To the device</a></p>
      """, at: .devices, open: try hub.openConflicts())
  }

  private static func groups(_ fingerprint: String) -> Markup {
    let groups = fingerprint.split(separator: "-").map { String($0) }
    let titles = ["Fingerprint"] + (1...max(1, groups.count)).map { "Group \($0)" }
    return StatusSheet.Table(titles: titles, rows: [["This hub"] + groups]).markup(
      caption: "The fingerprint of this hub: \(fingerprint)")
  }
}
