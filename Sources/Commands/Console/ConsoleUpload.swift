import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files that a browser sends, on their way into the inbox. They are never in memory as a whole. An upload that
/// ends early leaves nothing behind.
///
/// `@unchecked Sendable` is safe: before the last piece, only the server's thread uses the upload. After the last
/// piece, only the task that imports the files uses it.
final class ConsoleUpload: WebFiles, @unchecked Sendable {
  /// nil after the files were removed.
  private var arriving: ArrivingFiles?
  /// The name of the file that is arriving.
  private var name = ""
  private var count = 0
  /// The paths of the received files, by name. An empty file is left out.
  private(set) var paths: [String: String] = [:]

  /// - Parameter bytes: the size that the browser announces; nil if it announces none.
  /// - Throws: if there is no room for that size.
  init(_ bytes: Int64?, in folder: WorkspaceFolder, platform: Platform) throws {
    let free = try platform.files.freeBytes(folder.inbox)
    guard bytes ?? 0 < free else {
      throw WorkspaceError(
        .noSpace,
        "There is no room for \((bytes ?? 0) >> 20) MiB: \(free >> 20) MiB are free where \(folder.inbox) lies.",
        hint: "Make room there first.")
    }
    arriving = try ArrivingFiles(in: folder, platform: platform)
  }

  func begin(_ name: String) {
    count += 1
    self.name = "\(count)-\(Self.safeName(name))"
  }

  func append(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    if paths[name] == nil { paths[name] = try arriving?.begin(name) }
    try arriving?.append(bytes)
  }

  /// Removes the files.
  func discard() { arriving = nil }

  func answer(to error: any Error) -> WebResponse { ConsoleSite.failed(error) }

  /// The last part of a name, without characters that have a meaning for a file system. The name may come from anyone.
  private static func safeName(_ name: String) -> String {
    let safe = Paths.name(of: name).unicodeScalars.filter { scalar in
      scalar.isASCII
        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-_.".unicodeScalars.contains(scalar))
    }
    let text = String(String.UnicodeScalarView(safe.suffix(150)))
    return text.hasSuffix(".satchel") ? text : text + ".satchel"
  }
}
