import SatchelPlatform

/// Makes lines on another core, of items that the caller reads from its database meanwhile.
public protocol ChangeLineMaker: Sendable {
  associatedtype Item: Sendable

  mutating func line(of item: Item) -> ChangeLine
  /// How many bytes of memory an item keeps, roughly.
  static func byteCount(of item: Item) -> Int
}

/// The entry that a maker's lines become, in the order of their items.
struct MadeLines<Maker: ChangeLineMaker>: ~Copyable {
  private struct Work: Sendable {
    var maker: Maker
    var writer = LineWriter()
  }

  private struct Batch: Sendable {
    var items: [Maker.Item] = []
    var size = BatchSize()
  }

  private struct Lines: Sendable {
    var bytes: [UInt8] = []
    var needed: Set<Manifest.Critical> = []
    /// Why there are no more of them.
    var problem: BundleError?
    /// Handed back so that they are freed on the thread that made them, which costs half as much.
    let items: [Maker.Item]
  }

  private var conveyor: Conveyor<Work, Batch, Lines>
  private var batch = Batch()
  private var entry: EntryWriter
  private let tally: LineTally

  init(_ maker: Maker, in folder: borrowing StagingFolder, _ tally: LineTally) throws {
    conveyor = Conveyor(state: Work(maker: maker)) { work, batch in Self.lines(of: batch, &work) }
    entry = try EntryWriter(in: folder)
    self.tally = tally
  }

  private static func lines(of batch: Batch, _ work: inout Work) -> Lines {
    var lines = Lines(items: batch.items)
    work.writer.beginAnew()
    do {
      for item in batch.items {
        let line = work.maker.line(of: item)
        if let feature = line.critical { lines.needed.insert(feature) }
        try work.writer.write(line)
      }
    } catch { lines.problem = error }
    lines.bytes = work.writer.take()
    return lines
  }

  mutating func add(_ item: Maker.Item) throws {
    batch.items.append(item)
    batch.size.add(Maker.byteCount(of: item))
    if !batch.size.isFull { return }
    let mostAtOnce = batch.size.mostAtOnce
    put()
    while conveyor.count > mostAtOnce { try take() }
  }

  private mutating func put() {
    if batch.items.isEmpty { return }
    conveyor.put(batch)
    batch = Batch()
  }

  /// Returns whether there was something to take.
  @discardableResult
  private mutating func take() throws -> Bool {
    guard let lines = conveyor.take() else { return false }
    if let problem = lines.problem { throw problem }
    try entry.write(lines.bytes)
    for feature in lines.needed { tally.add(0, feature) }
    tally.add(lines.items.count)
    return true
  }

  /// The file of all lines; none may be added after it.
  consuming func finish() throws -> BundleDraft.StagedFile {
    put()
    while try take() {}
    return try entry.finish()
  }
}
