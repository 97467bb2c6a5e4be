import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Making a device's folder at the hub: the one act in which both sides have a hand.
struct Provisioning {
  let hub: HubWorkspace
  let platform: Platform

  struct Made {
    let device: EnrolledDevice
    /// nil in a rehearsal.
    let rows: Int?
    var name: String { device.name }
    var user: String { device.user }
  }

  /// Makes the workspace `folder`, enrols it, and brings the rows in. What was made goes again where a step fails.
  func provision(_ name: String, user: String, into folder: String, ending: Ending) throws -> Made {
    guard try platform.files.kind(folder) == nil || platform.files.list(folder).isEmpty else {
      throw WorkspaceError(
        "not-empty", "There is something in \(folder) already.", hint: "Choose a folder that is empty, or not there yet.")
    }
    let device = try DeviceWorkspace.create(
      folder, dataset: hub.configuration.dataset, name: name, platform: platform, ending: ending)
    if ending == .takeBack {
      // The key is never used: only whether name and user can be enrolled is asked.
      let own = try WorkspaceKeys.publicKey(at: hub.folder.publicKey, files: platform.files)
      return Made(
        device: try hub.enrol(
          device.configuration.id, name: name, user: user, key: own, incarnation: platform.random.identifier()), rows: nil)
    }
    do { return try fill(device, name, user) } catch {
      try platform.files.removeTree(folder)
      throw error
    }
  }

  private func fill(_ device: DeviceWorkspace, _ name: String, _ user: String) throws -> Made {
    let files = platform.files
    guard let incarnation = device.configuration.incarnation else {
      throw WorkspaceError("bad-workspace", "satchel.json has no incarnation.")
    }
    let enrolled = try hub.enrol(
      device.configuration.id, name: name, user: user,
      key: try WorkspaceKeys.publicKey(at: device.folder.publicKey, files: files), incarnation: incarnation)
    do {
      let hubKey = try WorkspaceKeys.publicKey(at: hub.folder.publicKey, files: files)
      let emitted = try hub.emit(to: name)
      let report = try device.importBundle(emitted.file, fingerprint: hubKey.fingerprint)
      try hub.markDelivered(emitted)
      return Made(device: enrolled, rows: report.written)
    } catch {
      try hub.withdraw(enrolled)
      throw error
    }
  }
}
