import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension [UnknownOwnBundle] {
  /// The bundles from a hub that prove that the hub was set back, or that belong to the lost time.
  var proofsOfHub: [UnknownOwnBundle] { filter { $0.isProof && $0.manifest?.kind == .scope } }

  /// The reports about these files. At a hub, `proofsOfHub` are left out, because the import reports them.
  func failures(at tool: String) -> [Failure] {
    if tool == DeviceTool.name { return map(\.failureAtDevice) }
    let reported = Set(proofsOfHub.map(\.path))
    return filter { !reported.contains($0.path) }.map(\.failureAtHub)
  }
}

extension UnknownOwnBundle {
  fileprivate var failureAtDevice: Failure {
    Failure(
      reason: .olderDatabase,
      message: """
        \(path): this file is from this device, and the database here did not make it. The database was replaced by \
        an older copy, or another copy of this folder is in use. The file stays.
        """,
      hint: """
        Carry it to the hub: it may be the only file with newer work of this device. Put the newer database back if \
        there is one. If this one is its backup and the newer one is lost, tell the hub's operator: satchel-hub device \
        fork NAME --restored. If the newer one is in use elsewhere, this one continues under a new name: satchel renew \
        --name NEW-NAME --request FILE
        """, code: .refused)
  }

  fileprivate var failureAtHub: Failure {
    Failure(
      reason: .setBack,
      message: "\(path): this file is from this hub, and the database here did not make it. The file stays.",
      hint: """
        If this hub's files were put back from a copy or a backup: satchel-hub restore --in-place. If that was done, \
        and the device has its rows, delete the file.
        """, code: .refused)
  }
}
