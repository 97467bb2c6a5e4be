import Glibc
import Synchronization
import Testing

@testable import SatchelPlatform

@Suite("Work on another core")
struct OrderedWorkerTests {
  private func squares() -> OrderedWorker<Int, Int, Int> {
    OrderedWorker(state: 0) { count, number in
      count += 1
      return number * number * 1_000 + count
    }
  }

  @Test(
    "results come in the order of their pieces, whenever they are taken, and the state passes from piece to piece",
    arguments: 1...5)
  func order(atOnce: Int) {
    var worker = squares()
    var products: [Int] = []
    for number in 1...200 {
      worker.put(number)
      if worker.count > atOnce, let product = worker.take() { products.append(product) }
    }
    while let product = worker.take() { products.append(product) }
    #expect(products == (1...200).map { $0 * $0 * 1_000 + $0 })
    #expect(worker.take() == nil)
  }

  @Test("a single piece is processed on the caller's thread; two are not")
  func threads() {
    var worker = OrderedWorker(state: 0) { _, caller in caller == pthread_self() }
    worker.put(pthread_self())
    #expect(worker.take() == true)
    worker.put(pthread_self())
    worker.put(pthread_self())
    #expect(worker.take() == false)
    #expect(worker.take() == false)
  }

  @Test("ending before everything was taken waits for the piece in work, and for no other")
  func abandoned() {
    final class Gate: Sendable {
      let begun = Mutex(0)
      let done = Mutex(0)
      let isOpen = Mutex(false)
    }
    let gate = Gate()
    do {
      var worker = OrderedWorker(state: gate) { (gate: inout Gate, _: Int) in
        gate.begun.withLock { $0 += 1 }
        while !gate.isOpen.withLock({ $0 }) { sched_yield() }
        gate.done.withLock { $0 += 1 }
      }
      for piece in 0..<100 { worker.put(piece) }
      while gate.begun.withLock({ $0 }) == 0 { sched_yield() }
      // `giveUp` is called first. Only then may the piece in work end.
      worker.giveUp()
      gate.isOpen.withLock { $0 = true }
    }
    #expect(gate.begun.withLock { $0 } == 1)
    #expect(gate.done.withLock { $0 } == 1, "it was not waited for")
  }
}
