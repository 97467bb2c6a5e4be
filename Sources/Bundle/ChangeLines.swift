import SatchelJSON
import SatchelPlatform

/// The lines of a verified bundle's `changes.jsonl`, read once and in their order.
///
/// Who imports them holds the database's write lock meanwhile, and others wait. So what needs no database can be done before: `readAhead`
/// parses as much as memory should hold, which is all of most bundles.
public final class ChangeLines {
  private var reader: LineReader?
  private var parser: ChangeLineParser
  private let manifest: Manifest
  private let progress: (any ProgressObserver)?
  private var tellsOfKeys = false
  private var parsed: [ChangeLine] = []
  /// How many lines were parsed, those ahead among them.
  private var count = 0

  /// How much of the file is parsed ahead; in memory it takes about four times as much.
  private static let bytesAhead = 3 << 20

  init(path: String?, of manifest: Manifest, limits: BundleLimits, platform: Platform) throws {
    progress = platform.progress
    self.manifest = manifest
    parser = ChangeLineParser(limits)
    reader = try path.map { try LineReader(path: $0, limit: limits.lineBytes, files: platform.files) }
  }

  /// Parses lines before they are asked for. Throws a `BundleError` where one is not as it should be.
  public func readAhead() throws {
    var bytes = 0
    while bytes < Self.bytesAhead, let (line, size) = try next() {
      parsed.append(line)
      bytes += size
    }
  }

  /// Calls `body` for each line. Throws a `BundleError` with the line's number where it is not as it should be, or where `body` throws a
  /// `LineProblem`; and where there are not as many lines as the manifest says.
  public func each(_ body: (ChangeLine) throws -> Void) throws {
    func take(_ line: ChangeLine, _ number: Int) throws {
      try naming(number) { try body(line) }
      if number.isMultiple(of: 1024) { progress?.observe(Progress(.applying, Int64(number), of: manifest.changes)) }
    }
    for (place, line) in parsed.enumerated() { try take(line, place + 1) }
    parsed = []
    while let (line, _) = try next() { try take(line, count) }
    guard count == manifest.changes else {
      throw BundleError.manifest("it counts \(manifest.changes) lines in \(EntryName.changes.rawValue), and there are \(count)")
    }
    guard tellsOfKeys || !manifest.critical.contains(.keys) else {
      throw BundleError.manifest("critical names keys, and there are no lines that tell of them")
    }
  }

  private func next() throws -> (line: ChangeLine, size: Int)? {
    try naming(count + 1) {
      guard let bytes = try reader?.line() else { return nil }
      count += 1
      let line = try parser.parse(bytes)
      try check(line)
      return (line, bytes.count)
    }
  }

  private func check(_ line: ChangeLine) throws {
    if line.content.isAboutKeys {
      tellsOfKeys = true
      guard manifest.critical.contains(.keys) else { throw LineProblem("it tells of keys, and the manifest does not say so") }
    } else if case .scope(let scope) = manifest.body, scope.extent == .full {
      throw LineProblem("the rows of a full bundle are in its snapshot")
    }
  }

  private func naming<T>(_ number: Int, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let problem as LineProblem {
      throw BundleError.line(entry: EntryName.changes.rawValue, number: number, problem.message)
    }
  }
}
