import SatchelHub
import SatchelPlatform
import SatchelValues

/// The page on which a device is put on hold, or released.
extension ConsoleSite {
  /// Says what happens if the device is put on hold. For a device on hold, says what its release does. Changes nothing.
  func holding(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let device = try hub.device(request.needed("name"))
    let count = try hub.waiting().count { $0.device == device.name }
    let bundles = Words.count(count, "bundle")
    let isOnHold = device.hold != nil
    let effect: Markup =
      isOnHold
      ? "The hub imports what waits from \(device.name): \(bundles). From then on it takes its bundles as before."
      : """
      From now on the bundles of \(device.name) wait here, and nothing of them is merged. The device can still export,
      and still gets bundles. No work is lost.
      """
    let note: Markup =
      isOnHold ? "" : "<label>Reason, for your colleagues <input name=\"note\" maxlength=\"200\"></label>\n"
    return Self.frame(
      isOnHold ? "Release the device \(device.name)" : "Put the device \(device.name) on hold",
      """
      <h2>What will happen</h2>
      <p class="notice">\(effect)</p>
      <form method="post" action="device-hold">
      \(Self.hidden([("name", device.name), ("act", isOnHold ? "release" : "hold")]))
      \(note)<div class="bar"><button class="main">\(isOnHold ? "Release it now" : "Put it on hold now")</button>
      <a class="button" href="device?name=\(percentEncoded(device.name))">Back, change nothing</a></div>
      </form>
      """, at: .devices, open: try hub.openConflicts())
  }

  /// Begins to put a device on hold, or to release it.
  func hold(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    let name = try hub.device(request.needed("name")).name
    let act = try request.needed("act")
    guard act == "hold" || act == "release" else { throw UsageError("a device is put on hold, or released") }
    let note = act == "hold" ? request.filled("note") : nil
    let options = OperatorOptions.words(of: command, context) + (note.map { ["--note=\($0)"] } ?? [])
    return try begin(
      ConsoleTask(
        act == "hold" ? "Put the device \(name) on hold" : "Release the device \(name)", at: .devices,
        words: ["device", act] + options + ["--", name], on: command,
        next: { _ in
          "<p><a class=\"button main\" href=\"device?name=\(percentEncoded(name))\">To the device</a></p>"
        }))
  }
}
