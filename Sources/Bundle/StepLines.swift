import SatchelPlatform
import SatchelValues

/// Makes the lines of steps on another core, while the caller reads the next steps from its database: that is a third of an export's work.
struct StepLines: ~Copyable {
  /// Steps for the other core.
  private struct Batch: Sendable {
    var steps: [(place: StepPlace, table: Int, step: Step)] = []
    var size = BatchSize()
  }

  /// The lines of a batch, and which of them have which place.
  private struct Lines: Sendable {
    var bytes: [UInt8] = []
    var runs: [(place: StepPlace, bytes: Int)] = []
    /// Why there are no more of them.
    var problem: BundleError?
    /// Handed back so that they are freed where they were made: memory that one thread gets and another gives back costs twice as much.
    let steps: [(place: StepPlace, table: Int, step: Step)]
  }

  private var conveyor: Conveyor<LineWriter, Batch, Lines>
  private var batch = Batch()
  private var sorter: LineSorter
  private let tally: LineTally

  /// - Parameter tables: the steps name them by their places here.
  init(of tables: [TableSchema], in folder: borrowing StagingFolder, _ tally: LineTally) throws {
    conveyor = Conveyor(state: LineWriter()) { writer, batch in Self.lines(of: batch, tables, &writer) }
    sorter = try LineSorter(in: folder)
    self.tally = tally
  }

  private static func lines(of batch: Batch, _ tables: [TableSchema], _ writer: inout LineWriter) -> Lines {
    var lines = Lines(steps: batch.steps)
    writer.beginAnew()
    do {
      for (place, table, step) in batch.steps {
        let count = try writer.write(ChangeLine(step, schema: tables[table]))
        if lines.runs.last?.place != place { lines.runs.append((place, 0)) }
        lines.runs[lines.runs.count - 1].bytes += count
      }
    } catch { lines.problem = error }
    lines.bytes = writer.take()
    return lines
  }

  /// Adds a line that was made elsewhere.
  mutating func add(_ line: ChangeLine, _ place: StepPlace) throws {
    var writer = LineWriter()
    try writer.write(line)
    try sorter.add(writer.bytes[...], place)
    tally.add(1, line.critical)
  }

  mutating func add(_ step: Step, of table: Int, _ place: StepPlace) throws {
    batch.steps.append((place, table, step))
    batch.size.add(step.byteCount)
    if !batch.size.isFull { return }
    let mostAtOnce = batch.size.mostAtOnce
    put()
    while conveyor.count > mostAtOnce { try take() }
  }

  private mutating func put() {
    if batch.steps.isEmpty { return }
    conveyor.put(batch)
    batch = Batch()
  }

  /// Returns whether there was something to take.
  @discardableResult
  private mutating func take() throws -> Bool {
    guard let lines = conveyor.take() else { return false }
    if let problem = lines.problem { throw problem }
    var begin = 0
    for run in lines.runs {
      try sorter.add(lines.bytes[begin..<begin + run.bytes], run.place)
      begin += run.bytes
    }
    tally.add(lines.steps.count)
    return true
  }

  /// The file of all lines; none may be added after it.
  mutating func finish(in folder: borrowing StagingFolder) throws -> BundleDraft.StagedFile {
    put()
    while try take() {}
    return try sorter.finish(in: folder)
  }
}

extension Step {
  /// How many bytes its texts and blobs have.
  fileprivate var byteCount: Int {
    switch change {
    case .insert(let row), .delete(let row): row.byteCount
    case .update(let changes): changes.reduce(0) { $0 + $1.was.byteCount + $1.value.byteCount }
    }
  }
}
