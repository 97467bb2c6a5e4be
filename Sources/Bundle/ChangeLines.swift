import SatchelJSON
import SatchelPlatform

/// The lines of a verified bundle's `changes.jsonl`, read once and in their order.
///
/// Who imports them holds the database's write lock meanwhile, and others wait. So another core parses the next lines
/// while the rows of the last ones are written: parsing is a quarter of an import's work.
public final class ChangeLines {
  private var reader: LineReader?
  private var conveyor: Conveyor<ChangeLineParser, Batch, Parsed>
  /// The first of them, where they were read ahead.
  private var ahead: Parsed?
  /// Lines that were taken, to be handed back.
  private var used: [ChangeLine] = []
  private let manifest: Manifest
  private let progress: (any ProgressObserver)?
  /// The size of the batch that was put on the conveyor last.
  private var last = BatchSize()
  private var tellsOfKeys = false
  private var count = 0

  /// Lines for the other core.
  private struct Batch: Sendable {
    var lines: [[UInt8]] = []
    var size = BatchSize()
    /// Why there are no more of them.
    var problem: LineProblem?
    /// Lines of an earlier batch, to be freed where they were made.
    let used: [ChangeLine]
  }

  private struct Parsed: Sendable {
    var lines: [ChangeLine] = []
    /// What is wrong with the line behind them.
    var problem: LineProblem?
    let size: BatchSize
    /// The lines' bytes, likewise to be freed where they were made.
    let bytes: [[UInt8]]
  }

  init(path: String?, of manifest: Manifest, limits: BundleLimits, platform: Platform) throws {
    progress = platform.progress
    self.manifest = manifest
    conveyor = Conveyor(state: ChangeLineParser(limits)) { parser, batch in Self.parsed(batch, &parser) }
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

  /// Parses the first lines before they are asked for, which are all of a small bundle, and has those behind them
  /// parsed meanwhile. Throws a `BundleError` where one is not as it should be.
  public func readAhead() throws {
    ahead = try next()
    if let ahead, let problem = ahead.problem { try naming(ahead.lines.count + 1) { throw problem } }
  }

  /// Calls `body` for each line. Throws a `BundleError` with the line's number where it is not as it should be, or
  /// where `body` throws a `LineProblem`; and where there are not as many lines as the manifest says.
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
        "it counts \(manifest.changes) lines in \(EntryName.changes.rawValue), and there are \(count)")
    }
    guard tellsOfKeys || !manifest.critical.contains(.keys) else {
      throw BundleError.manifest("critical names keys, and there are no lines that tell of them")
    }
  }

  private func next() throws -> Parsed? {
    if let ahead {
      self.ahead = nil
      return ahead
    }
    try fill()
    guard var parsed = conveyor.take() else { return nil }
    for (place, line) in parsed.lines.enumerated() {
      do throws(LineProblem) { try check(line) } catch {
        parsed.lines.removeSubrange(place...)
        parsed.problem = error
        break
      }
    }
    return parsed
  }

  /// Puts as much on the conveyor as may be there.
  private func fill() throws {
    while conveyor.count == 0 || conveyor.count < last.mostAtOnce, let batch = try read() {
      last = batch.size
      conveyor.put(batch)
    }
  }

  /// The next batch; nil at the end.
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
      throw LineProblem("it tells what the row was, and the manifest does not say so")
    }
    guard line.unit == nil || manifest.critical.contains(.units) else {
      throw LineProblem("it belongs to a unit, and the manifest does not say so")
    }
    if line.content.isAboutKeys {
      tellsOfKeys = true
      guard manifest.critical.contains(.keys) else {
        throw LineProblem("it tells of keys, and the manifest does not say so")
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
