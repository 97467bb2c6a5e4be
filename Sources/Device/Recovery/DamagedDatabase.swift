import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The parts of a damaged database that were saved before a new database replaced it.
public struct SavedDatabase: Sendable {
  /// SQLite's description of the damage.
  public let fault: String
  /// The present path of the damaged file.
  public let kept: String
  /// The export with the changes that no earlier export carried. nil: there were none, or they could not be read.
  public let export: ExportReport?
  /// Why the changes that no export carried could not be read. nil: they could be read.
  public let unread: String?
}

extension SavedDatabase {
  /// The report of `doctor` after another database replaced the damaged database.
  var words: String {
    var sentences = [
      """
      The database was damaged (\(fault)). It is kept in \(kept), and another one is made as far as bundles and \
      exports tell: close the app and open it again.
      """
    ]
    if let export { sentences.append("Undelivered changes are in \(export.file): carry it to the hub.") }
    if let unread {
      sentences.append(
        """
        The writes since the last export could not be read (\(unread)): sqlite3 can often read most of the kept file \
        (.dump, or .recover if your sqlite3 has it).
        """)
    }
    return sentences.joined(separator: " ")
  }
}

/// A device's database that SQLite cannot read to its end. A full bundle from the hub replaces it.
struct DamagedDatabase {
  private let workspace: DeviceWorkspace
  /// SQLite's description of the damage.
  let fault: String

  private var files: any FileSystem { workspace.platform.files }
  private var path: String { workspace.databasePath }

  /// Finds damage in the database file; nil: the file is sound or missing.
  static func find(_ workspace: DeviceWorkspace) throws -> DamagedDatabase? {
    guard try workspace.platform.files.kind(workspace.databasePath) == .file else { return nil }
    do {
      guard let fault = try Database(path: workspace.databasePath, mode: .readWrite).brokenPage() else { return nil }
      return DamagedDatabase(workspace: workspace, fault: fault)
    } catch let error as SQLiteError where error.isDamage {
      return DamagedDatabase(workspace: workspace, fault: error.message)
    }
  }

  /// Exports the changes that no export carries, as far as they can be read. Then moves the file aside.
  func putAside() throws -> SavedDatabase { try save { try workspace.putAsideRemains() } }

  /// Exports the unsent changes as `putAside` does, and rebuilds the database from the bundles in the workspace. If the
  /// rebuild fails, the damaged file stays in its place.
  ///
  /// Throws a `WorkspaceError` if the archive is not complete, because only a full bundle can then replace the
  /// database.
  func rebuild() throws -> SavedDatabase {
    guard try DatabaseRebuild.find(workspace) != nil else { throw damaged() }
    return try save {
      // The export that was just made is replayed with the others.
      guard let rebuild = try DatabaseRebuild.find(workspace) else { throw damaged() }
      do { return try rebuild.run().kept } catch let error as WorkspaceError where error.code == .noHistory {
        throw damaged()
      }
    }
  }

  /// The finding that `doctor` reports about the database. If the archive is complete, a repair can mend the database.
  func finding() throws -> Finding {
    if try DatabaseRebuild.find(workspace) == nil { return Finding(damaged()) }
    return Finding(.corrupt, damaged().message)
  }

  private func damaged() -> WorkspaceError {
    WorkspaceError(
      .corrupt, "The database \(path) is damaged: \(fault).",
      hint:
        """
        Close the app, and keep the file. Ask the hub's operator for a full bundle: satchel-hub emit --device \
        \(workspace.configuration.name) --full; its import saves the undelivered changes that can be read, and \
        rebuilds the database.
        """
    )
  }

  private func save(_ putAside: () throws -> String?) throws -> SavedDatabase {
    var (export, unread): (ExportReport?, String?) = (nil, nil)
    do {
      let made = try workspace.exportHere(
        workspace.session(), snapshot: .never, proof: .never, encryption: .asTheDatasetSays)
      if made.isNew { export = made }
    } catch let error as SQLiteError where !error.isOfTheMachine || error.kind == .inputOutput {
      unread = error.message
    } catch let error as WorkspaceError { unread = error.message }
    let kept = try putAside()
    return SavedDatabase(fault: fault, kept: kept ?? path, export: export, unread: unread)
  }

  /// Throws if this bundle cannot replace the database.
  func check(_ scope: Manifest.Scope, _ manifest: Manifest) throws {
    // If the archive is enough to rebuild the database, this bundle need not replace it. The bundle is imported after
    // the rebuild, like any other bundle.
    if try DatabaseRebuild.find(workspace) != nil { return }
    let wanted = "satchel-hub emit --device \(workspace.configuration.name) --full"
    guard scope.extent == .full else {
      throw WorkspaceError(
        .corrupt, "The database \(path) is damaged (\(fault)), and this bundle carries changes only.",
        hint:
          """
          Ask the hub's operator for a full one: \(wanted). The import saves undelivered changes and rebuilds the \
          database.
          """
      )
    }
    let archive = BundleArchive(workspace.folder, files)
    let prefix = Manifest.namePrefix(dataset: manifest.dataset, from: manifest.from.name, to: manifest.to.name)
    if let newest = try archive.numbers(prefix).last, scope.number.rawValue < newest {
      throw Refusal(
        .older,
        "The database \(path) is damaged (\(fault)), and bundle \(newest) of the hub came here after this one.",
        hint: "Ask the hub's operator for a new full one: \(wanted)")
    }
  }
}
