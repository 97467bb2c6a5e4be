import SatchelPlatform

/// Makes lines of changes on another core, while the caller reads the next items from its database.
public protocol ChangeLineMaker: Sendable {
  associatedtype Item: Sendable

  mutating func line(of item: Item) throws -> ChangeLine
  /// The approximate size of an item in memory, in bytes.
  static func byteCount(of item: Item) -> Int
}

/// Runs a maker on another core, and returns its lines in the order of the items.
struct MadeLines<Maker: ChangeLineMaker>: ~Copyable {
  private struct Work: Sendable {
    var maker: Maker
    var writer = LineWriter()
  }

  /// Items for the other core.
  private struct Batch: Sendable {
    var items: [Maker.Item] = []
    var size = BatchSize()
  }

  /// The lines of one batch, one after another.
  struct Lines: Sendable {
    fileprivate(set) var bytes: [UInt8] = []
    /// The number of bytes of each line.
    fileprivate(set) var lengths: [Int] = []
    /// The items of these lines. They come back to the thread that allocated them, which frees them in half the time.
    let items: [Maker.Item]
    fileprivate var critical: Set<Manifest.Critical> = []
    /// The error because of which the lines end early; nil if there is none.
    fileprivate var problem: (any Error)?

    fileprivate init(of items: [Maker.Item]) { self.items = items }
  }

  private var worker: OrderedWorker<Work, Batch, Lines>
  private var batch = Batch()
  private let tally: LineTally

  init(_ maker: Maker, _ tally: LineTally) {
    worker = OrderedWorker(state: Work(maker: maker)) { work, batch in Self.lines(of: batch, &work) }
    self.tally = tally
  }

  private static func lines(of batch: Batch, _ work: inout Work) -> Lines {
    var lines = Lines(of: batch.items)
    work.writer.beginAnew()
    do {
      for item in batch.items {
        let line = try work.maker.line(of: item)
        if let feature = line.critical { lines.critical.insert(feature) }
        lines.lengths.append(try work.writer.write(line))
      }
    } catch { lines.problem = error }
    lines.bytes = work.writer.take()
    return lines
  }

  /// - Parameter use: gets finished lines, of this item or of earlier ones.
  mutating func add(_ item: Maker.Item, _ use: (Lines) throws -> Void) throws {
    batch.items.append(item)
    batch.size.add(Maker.byteCount(of: item))
    if !batch.size.isFull { return }
    let mostAtOnce = batch.size.mostAtOnce
    put()
    while worker.count > mostAtOnce { try take(use) }
  }

  private mutating func put() {
    if batch.items.isEmpty { return }
    worker.put(batch)
    batch = Batch()
  }

  /// Calls `use` with the lines of one batch. Returns false if there is no batch.
  @discardableResult
  private mutating func take(_ use: (Lines) throws -> Void) throws -> Bool {
    guard let lines = worker.take() else { return false }
    if let problem = lines.problem { throw problem }
    try use(lines)
    for feature in lines.critical { tally.add(0, feature) }
    tally.add(lines.items.count)
    return true
  }

  /// Calls `use` with all remaining lines.
  consuming func finish(_ use: (Lines) throws -> Void) throws {
    put()
    while try take(use) {}
  }
}
