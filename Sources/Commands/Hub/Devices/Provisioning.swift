import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Makes a device's folder at the hub. Only this work uses the device's code and the hub's code together.
struct Provisioning {
  let hub: HubWorkspace
  let platform: Platform

  struct Made {
    let device: EnrolledDevice
    /// The number of rows in the device's database. nil in a dry run.
    let rows: Int?
    /// The name of the file, in the device's folder, that the app must open.
    let database: String
    var name: String { device.name }
    var user: String { device.user }
  }

  /// Makes the workspace `folder`, enrols the device, and imports the rows. If a step fails, all earlier steps are
  /// undone.
  /// - Parameters:
  ///   - template: a database that the app made, which receives the rows. nil: the database has only the dataset's
  ///     tables.
  ///   - secrets: whether the device gets keys with which it can deliver.
  func provision(
    _ name: String, user: String, into folder: String, template: String?, secrets: EnrolledDevice.Secrets = .made,
    runMode: RunMode
  ) throws -> Made {
    try refuseInside(folder)
    guard try platform.files.kind(folder) == nil || platform.files.list(folder).isEmpty else {
      throw WorkspaceError(
        .notEmpty, "\(folder) is in use already: it is not an empty folder.",
        hint: "Choose an empty folder, or a folder that does not exist yet.")
    }
    if runMode == .dryRun { return try rehearse(name, user: user, into: folder, template: template) }
    let new = try NewFolder(for: folder, platform: platform)
    let device = try create(name, in: new.path, template: template, runMode: runMode)
    let enrolled = try enrol(device, user: user, secrets)
    do {
      // This deletes the device's secret keys. The hub still knows the device by its public key, but no one can sign
      // with it.
      if secrets == .none { try device.keys.discard() }
      let hubKey = try hub.keys.ownKey()
      let emitted = try hub.emit(to: name)
      let report = try device.importBundle(emitted.file, fingerprint: hubKey.fingerprint)
      try Self.refuseRows(of: template, report)
      try new.publish()
      do {
        return Made(
          device: try hub.markDelivered(emitted, secrets: secrets), rows: report.written,
          database: device.configuration.database)
      } catch {
        try? platform.files.removeTree(folder)
        throw error
      }
    } catch {
      // If this fails too, the first error is thrown. The next device of this name replaces the enrolment that is left.
      try? hub.withdraw(enrolled)
      throw error
    }
  }

  /// Refuses a template with rows. It is not known who owns these rows, and whether the hub should have them.
  private static func refuseRows(of template: String?, _ report: ImportReport) throws {
    guard let template, let joined = report.joined, !joined.isEmpty || report.conflicts > 0 else { return }
    let tables = Set(joined.map(\.table.text) + report.found.map(\.table.text)).sorted().joined(separator: ", ")
    throw Refusal(
      .templateRows, "The template \(template) has rows in \(tables) that are not the hub's.",
      hint:
        """
        Empty its tables. If they are a site's own rows, and the hub is to have them, that site joins by itself: \
        satchel init
        """
    )
  }

  /// Refuses a folder inside a workspace. Otherwise a backup, a copy or the removal of one folder would include the
  /// other. Links in the path are followed, because the real position of the folder counts.
  private func refuseInside(_ named: String) throws {
    let files = platform.files
    let folder = Paths.absolute(named, currentDirectory: try files.currentDirectory())
    func isThere(_ path: String) throws -> Bool { try platform.isFolder(path) }
    var above = Paths.parent(of: folder)
    while try !isThere(above), above != "/" { above = Paths.parent(of: above) }
    var (place, plain) = (above, above)
    // The parent of the root is the root.
    for _ in 0..<above.utf8.split(separator: UInt8(ascii: "/")).count + Self.mostLinked {
      if try files.kind(Paths.join(place, "satchel.json")) == .file {
        let isPlain = try files.kind(Paths.join(plain, "satchel.json")) == .file
        throw WorkspaceError(
          .insideWorkspace, "\(folder) would lie inside the workspace \(isPlain ? plain : place).",
          hint:
            "Choose a folder outside of it, such as one on a card. After -C DIR, paths are seen from DIR."
        )
      }
      (place, plain) = (Paths.join(place, ".."), Paths.parent(of: plain))
    }
  }

  /// A link may lead to a deeper folder. This number of parents is checked in addition to those that the path shows.
  private static let mostLinked = 32

  private func rehearse(_ name: String, user: String, into folder: String, template: String?) throws -> Made {
    let device = try create(name, in: folder, template: template, runMode: .dryRun)
    // This key is never used. The enrolment only checks whether the hub accepts the name and the user.
    return Made(
      device: try hub.enrol(
        device.configuration.id, name: name, user: user, key: unusedKey(), recipient: nil,
        incarnation: platform.random.identifier()),
      rows: nil, database: device.configuration.database)
  }

  private func unusedKey() throws -> PublicKey {
    guard let id = KeyID(bytes: platform.random.bytes(KeyID.size)) else {
      throw WorkspaceError(.badKey, "No key could be made.")
    }
    return SigningKey.generate(seed: platform.random.bytes(32), keyID: id).publicKey
  }

  private func create(_ name: String, in folder: String, template: String?, runMode: RunMode) throws -> DeviceWorkspace
  {
    let device = try DeviceWorkspace.create(
      folder, dataset: hub.configuration.dataset, name: name, database: database(like: template), platform: platform,
      runMode: runMode)
    if let template { try device.begin(from: template) }
    return device
  }

  /// The database's file name, with the extension of the template. The app may recognise its files by their extension:
  /// a GIS tool accepts a GeoPackage only as `.gpkg`.
  private func database(like template: String?) -> String {
    let name = template.map { Paths.name(of: $0) } ?? ""
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let runMode = parts.last, isSafeName(runMode.lowercased()) else { return "data.sqlite" }
    return "data.\(runMode)"
  }

  /// Enrols the device, which is not ready yet. A device without secret keys has no recipient, because it cannot
  /// decrypt.
  private func enrol(_ device: DeviceWorkspace, user: String, _ secrets: EnrolledDevice.Secrets) throws
    -> EnrolledDevice
  {
    guard let incarnation = device.configuration.incarnation else {
      throw WorkspaceError(.badWorkspace, "satchel.json has no incarnation.")
    }
    return try hub.enrol(
      device.configuration.id, name: device.configuration.name, user: user, key: device.keys.ownKey(),
      recipient: secrets == .made ? device.keys.recipient() : nil, incarnation: incarnation, state: .preparing)
  }
}
