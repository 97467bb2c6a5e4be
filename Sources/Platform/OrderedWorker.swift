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
/// The function uses only its piece and its state. Files, clock and random numbers are used only by the caller's
/// thread, so that a simulation can repeat their order. The caller limits the number of waiting pieces. The thread
/// starts when a second piece waits. If the system cannot start a thread, the caller's thread does the work.
public struct OrderedWorker<State: Sendable, Piece: Sendable, Product: Sendable>: ~Copyable {
  private let queue: WorkQueue<State, Piece, Product>
  private var worker: Worker = .none
  /// The number of pieces whose results were not taken yet.
  public private(set) var count = 0

  private enum Worker {
    case none
    case thread(WorkThread)
    case unavailable
  }

  /// - Parameter work: the function. It gets the state as the piece before left it.
  public init(state: State, _ work: @escaping @Sendable (inout State, Piece) -> Product) {
    queue = WorkQueue(state, work)
  }

  // The `deinit` of the thread runs after this one, and waits until the present piece is done.
  deinit { giveUp() }

  /// Drops all pieces except the piece that the thread is working on.
  func giveUp() { queue.end() }

  /// Adds a piece to the work.
  public mutating func put(_ piece: Piece) {
    queue.put(piece)
    count += 1
    if count == 2, case .none = worker { worker = start() }
  }

  /// Waits for the result of the oldest piece, and returns it; nil if there is no piece.
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

/// The data that both threads use, always with the mutex locked. Only `state` needs no mutex, because only the
/// working thread uses it.
@safe
private final class WorkQueue<State: Sendable, Piece: Sendable, Product: Sendable>: @unchecked Sendable {
  private var state: State
  private let work: @Sendable (inout State, Piece) -> Product
  private var pieces: [Piece] = []
  private var products: [Product] = []
  private var isOver = false
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Signals that a piece or a result was added, or that the work has ended.
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
  /// Wakes the waiting threads. The caller has unlocked the mutex. Otherwise a woken thread would have to wait once
  /// more for the mutex.
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

  /// Ends the work and drops the waiting pieces.
  func end() {
    locked { isOver = true }
    tell()
  }

  /// Works on the first piece in the caller's thread. This is called only if there is no other thread.
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
