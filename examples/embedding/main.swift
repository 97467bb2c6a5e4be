// An app that brings Satchel's device half along: it takes what a stick brings, and puts on it what was written here.
//
//   embedding WORKSPACE STICK-FOLDER

import SatchelDevice
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Draws how far a long step is.
final class Bar: ProgressObserver {
  func observe(_ progress: Progress) {
    print("\(progress.phase.rawValue) \(progress.done) of \(progress.total ?? progress.done)")
  }
}

func work(_ root: String, _ stick: String) throws {
  var platform = Platform.real
  platform.progress = Bar()
  let workspace = try DeviceWorkspace.open(root, platform: platform)

  // What the hub sent. A bundle that came before, or is for somebody else, changes nothing.
  for name in try platform.files.list(stick) where name.hasSuffix(".satchel") {
    do {
      let report = try workspace.importBundle(Paths.join(stick, name))
      print("\(name): \(report.verdict.rawValue), \(report.written) rows written, \(report.removed) removed")
    } catch let error as Refusal {
      print("\(name): \(error.reason)")
    }
  }

  // What met another change. The app shows both, and lets its user decide.
  for conflict in try workspace.conflicts([.open]) {
    print("conflict in \(conflict.record.table): \(conflict.record.kind.rawValue)")
    _ = try workspace.resolve(conflict.record.id.text, .device, note: "decided in the app", seen: .asFound)
  }

  // What was written here. Where nothing is new, the report names the last export.
  let export = try workspace.export()
  try platform.files.copy(export.file, to: Paths.join(stick, Paths.name(of: export.file)), mode: 0o644)
  print("export \(export.sequence): \(export.changes.map { "\($0.table) \($0.count)" }.joined(separator: ", "))")
}

let words = CommandLine.arguments
do { try work(words[1], words[2]) } catch let error as any ExplainedError {
  print("\(error.message)\n\(error.hint ?? "")")
}
