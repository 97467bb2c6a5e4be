import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// `checked.txt`: the record on a medium that its size was checked.
extension SizeCheck {
  /// The name of the record, in the stick's folder for bundles.
  private static let recordName = "checked.txt"
  private static let mostRecordBytes = 4096

  /// The line of the record that says which medium was checked. A copy of all files may bring the record to another
  /// medium.
  private static func mediumLine(_ folder: String, _ platform: Platform) throws -> String {
    "Size of the tested stick: \(try platform.files.totalBytes(folder)) bytes."
  }

  /// Whether the record says that this medium was checked. A record of an earlier release names no medium, so the
  /// medium is checked again.
  private static func wasChecked(_ root: String, _ medium: String, _ files: any FileSystem) throws -> Bool {
    let record = Paths.join(root, recordName)
    guard try files.kind(root) == .directory, try files.kind(record) == .file,
      try files.size(record) <= Int64(mostRecordBytes)
    else { return false }
    let text = String(decoding: try files.read(record, limit: mostRecordBytes), as: UTF8.self)
    return text.split(whereSeparator: \.isNewline).contains { $0 == medium }
  }

  /// Checks a medium unless it was checked before, and records the result on it.
  /// - Returns: the words about a check that was made; nil: no check was made.
  static func once(_ folder: String, _ platform: Platform) throws -> TerminalText? {
    let root = StickLayout(folder).root
    let medium = try mediumLine(folder, platform)
    if try wasChecked(root, medium, platform.files) { return nil }
    guard let reach = try SizeCheck(folder: folder, platform: platform).run() else { return nil }
    let day = UTCTime.text(milliseconds: platform.clock.milliseconds()).prefix(10)
    let words =
      "Test data over \(reach.bytes >> 20) of \(reach.free >> 20) MiB of free room came back as it was written"
    let record = Array("\(words), on \(day).\r\n\(medium)\r\n".utf8)
    try platform.files.replace(Paths.join(root, recordName), mode: 0o644, contents: record)
    return "The stick was tested. \(words).\n"
  }
}
