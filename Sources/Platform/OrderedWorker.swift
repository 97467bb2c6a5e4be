import Glibc

/// Applies a function to pieces of work, one after another, on a thread of its own. Returns the results in the order of
/// the pieces.
///
///     var worker = OrderedWorker(state: Parser()) { parser, lines in parser.parse(lines) }
///     for lines in batches {
///       worker.put(lines)
///       if worker.count > 2, let parsed = worker.take() { use(parsed) }
///     }
///     while let parsed = worker.take() { use(parsed) }
///
/// The function uses its piece and its state, and nothing else. Only the caller's thread uses files, clock and
/// randomness, so a simulation can repeat their order. The caller limits the number of pieces. The thread starts only
/// when two pieces are there. If the system cannot start a thread, the caller's thread does all the work.
public struct OrderedWorker<State: Sendable, Piece: Sendable, Product: Sendable>: ~Copyable {
  private let queue: WorkQueue<State, Piece, Product>
  private var worker: Worker = .none
  /// The number of pieces that were put, and whose results were not taken yet.
  public private(set) var count = 0

  private enum Worker {
    case none
    case thread(WorkThread)
    case unavailable
  }

  /// - Parameter work: the state is passed from piece to piece.
  public init(state: State, _ work: @escaping @Sendable (inout State, Piece) -> Product) {
    queue = WorkQueue(state, work)
  }

  // The thread's own end comes after this, and waits for the piece in work.
  deinit { giveUp() }

  /// Drops all pieces except the piece in work.
  func giveUp() { queue.end() }

  /// Adds a piece to the work.
  public mutating func put(_ piece: Piece) {
    queue.put(piece)
    count += 1
    if count == 2, case .none = worker { worker = start() }
  }

  /// Waits for the result of the oldest piece and returns it; nil: there is no piece.
  public mutating func take() -> Product? {
    if count == 0 { return nil }
    count -= 1
    if case .thread = worker { return queue.take() }
    return queue.workHere()
  }

  private func start() -> Worker {
    let queue = queue
    return WorkThread { queue.run() }.map { .thread($0) } ?? .unavailable
  }
}

/// The data that both threads share. They use it only with the mutex. `state` is an exception: only the thread that
/// does the work uses it.
@safe
private final class WorkQueue<State: Sendable, Piece: Sendable, Product: Sendable>: @unchecked Sendable {
  private var state: State
  private let work: @Sendable (inout State, Piece) -> Product
  private var pieces: [Piece] = []
  private var products: [Product] = []
  private var isOver = false
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Signals that a piece was added or taken, or that the work is over.
  private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ state: State, _ work: @escaping @Sendable (inout State, Piece) -> Product) {
    self.state = state
    self.work = work
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe change.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(change, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(change)
    unsafe pthread_mutex_destroy(mutex)
    unsafe change.deallocate()
    unsafe mutex.deallocate()
  }

  private func locked<T>(_ body: () -> T) -> T {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  private func wait() { unsafe pthread_cond_wait(change, mutex) }
  /// Wakes the waiting threads. It is called without the mutex: otherwise a thread would wake, wait for the mutex, and
  /// wake a second time.
  private func tell() { unsafe pthread_cond_broadcast(change) }

  func put(_ piece: Piece) {
    locked { pieces.append(piece) }
    tell()
  }

  func take() -> Product {
    locked {
      while products.isEmpty { wait() }
      return products.removeFirst()
    }
  }

  /// Ends the work and drops the pieces on the queue.
  func end() {
    locked { isOver = true }
    tell()
  }

  /// Does the work for the first piece in the caller's thread. It is called only if no other thread was started.
  func workHere() -> Product { work(&state, pieces.removeFirst()) }

  func run() {
    while let piece = next() {
      let product = work(&state, piece)
      locked { products.append(product) }
      tell()
    }
  }

  /// Waits for the next piece; nil if the work is over.
  private func next() -> Piece? {
    locked {
      while pieces.isEmpty, !isOver { wait() }
      return isOver ? nil : pieces.removeFirst()
    }
  }
}
