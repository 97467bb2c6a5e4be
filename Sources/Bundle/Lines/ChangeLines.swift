import SatchelJSON
import SatchelPlatform

/// The lines of a verified bundle's `changes.jsonl`. They are read once, in order.
///
/// An import holds the database's write lock while it reads the lines, and other writers wait. So another core parses
/// the next lines while this core writes rows. Parsing is a quarter of the work of an import.
public final class ChangeLines {
  private var reader: LineReader?
  private var worker: OrderedWorker<ChangeLineParser, Batch, Parsed>
  /// The first lines, after a call of `readAhead`.
  private var ahead: Parsed?
  /// Lines that are no longer needed. The next batch takes them back to the thread that allocated them.
  private var used: [ChangeLine] = []
  private let manifest: Manifest
  private let progress: (any ProgressObserver)?
  /// The size of the newest batch that the other core got.
  private var last = BatchSize()
  private var tellsOfKeys = false
  private var count = 0

  /// Lines for the other core to parse.
  private struct Batch: Sendable {
    var lines: [[UInt8]] = []
    var size = BatchSize()
    /// The reason why no more lines follow; nil if there is none.
    var problem: LineProblem?
    /// Lines of an earlier batch. The other core frees them, because its thread allocated them.
    let used: [ChangeLine]
  }

  private struct Parsed: Sendable {
    var lines: [ChangeLine] = []
    /// The reason why the line after `lines` is not valid; nil if all lines are.
    var problem: LineProblem?
    let size: BatchSize
    /// The bytes of the lines. This thread allocated them and frees them.
    let bytes: [[UInt8]]
  }

  init(path: String?, of manifest: Manifest, limits: BundleLimits, platform: Platform) throws {
    progress = platform.progress
    self.manifest = manifest
    worker = OrderedWorker(state: ChangeLineParser(limits)) { parser, batch in Self.parsed(batch, &parser) }
    reader = try path.map { try LineReader(path: $0, limit: limits.lineBytes, files: platform.files) }
  }

  private static func parsed(_ batch: Batch, _ parser: inout ChangeLineParser) -> Parsed {
    var parsed = Parsed(size: batch.size, bytes: batch.size.isLarge ? [] : batch.lines)
    parsed.lines.reserveCapacity(batch.lines.count)
    do throws(LineProblem) {
      for line in batch.lines { parsed.lines.append(try parser.parse(line)) }
      parsed.problem = batch.problem
    } catch { parsed.problem = error }
    return parsed
  }

  /// Parses the first lines now: in a small bundle, all lines. Another core then parses the following ones. Throws a
  /// `BundleError` if one of the first lines is not valid.
  public func readAhead() throws {
    ahead = try next()
    if let ahead, let problem = ahead.problem { try naming(ahead.lines.count + 1) { throw problem } }
  }

  /// Calls `body` for each line. Throws a `BundleError` with the number of a line if the line is not valid or `body`
  /// throws a `LineProblem`. Also throws if the number of lines is not the one in the manifest.
  public func each(_ body: (ChangeLine) throws -> Void) throws {
    while let parsed = try next() {
      for line in parsed.lines {
        count += 1
        try naming(count) { try body(line) }
        if count.isMultiple(of: 1024) { progress?.observe(Progress(.applying, Int64(count), of: manifest.changes)) }
      }
      if let problem = parsed.problem { try naming(count + 1) { throw problem } }
      if !parsed.size.isLarge { used = parsed.lines }
    }
    guard count == manifest.changes else {
      throw BundleError.manifest(
        "it announces \(manifest.changes) lines in \(EntryName.changes.rawValue), and there are \(count)")
    }
    guard tellsOfKeys || !manifest.critical.contains(.keys) else {
      throw BundleError.manifest("critical contains \"keys\", but no line is about keys")
    }
  }

  private func next() throws -> Parsed? {
    if let ahead {
      self.ahead = nil
      return ahead
    }
    try fill()
    guard var parsed = worker.take() else { return nil }
    for (place, line) in parsed.lines.enumerated() {
      do throws(LineProblem) { try check(line) } catch {
        parsed.lines.removeSubrange(place...)
        parsed.problem = error
        break
      }
    }
    return parsed
  }

  /// Gives batches to the other core, as many as are allowed at once.
  private func fill() throws {
    while worker.count == 0 || worker.count < last.mostAtOnce, let batch = try read() {
      last = batch.size
      worker.put(batch)
    }
  }

  /// Reads the next batch; nil at the end.
  private func read() throws -> Batch? {
    var batch = Batch(used: used)
    used = []
    do {
      while !batch.size.isFull, let line = try reader?.line() {
        batch.size.add(line.count)
        batch.lines.append(line)
      }
    } catch let problem as LineProblem {
      batch.problem = problem
      reader = nil
    }
    return batch.lines.isEmpty && batch.problem == nil ? nil : batch
  }

  private func check(_ line: ChangeLine) throws(LineProblem) {
    guard line.before.isEmpty || manifest.critical.contains(.unseen) else {
      throw LineProblem("it has former versions of the row, and the manifest does not announce them")
    }
    guard line.unit == nil || manifest.critical.contains(.units) else {
      throw LineProblem("it belongs to a unit, and the manifest does not announce units")
    }
    if line.content.isAboutKeys {
      tellsOfKeys = true
      guard manifest.critical.contains(.keys) else {
        throw LineProblem("it is about keys, and the manifest does not announce such lines")
      }
    } else if case .scope(let scope) = manifest.body, scope.extent == .full {
      throw LineProblem("the rows of a full bundle are in its snapshot")
    }
  }

  private func naming(_ number: Int, _ body: () throws -> Void) throws {
    do { try body() } catch let problem as LineProblem {
      throw BundleError.line(entry: EntryName.changes.rawValue, number: number, problem.message)
    }
  }
}
