import Foundation
import TestSupport
import Testing

@Suite("Programs beside the tests")
struct ChildProcessTests {
  /// Starts programs that run until they are released. They are released when everything has been read, or after a time
  /// limit.
  private final class Others: @unchecked Sendable {
    private let allIsRead = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private var outcome: Result<DispatchTimeoutResult, any Error> = .success(.success)

    init() {
      Thread.detachNewThread {
        self.outcome = Result {
          let all = try (0..<100).map { _ in try ChildProcess("/bin/cat", [], takesInput: true) }
          defer {
            for one in all { one.endInput() }
            for one in all { one.wait() }
          }
          return self.allIsRead.wait(timeout: .now() + 60)
        }
        self.ended.signal()
      }
    }

    func end() throws -> DispatchTimeoutResult {
      allIsRead.signal()
      ended.wait()
      return try outcome.get()
    }
  }

  @Test("a reader of a program's output waits for that program alone, even if another thread starts programs that stay")
  func apart() throws {
    let others = Others()
    for _ in 0..<100 { #expect(try runProgram(at: "/bin/echo", ["here"], in: "/").text == "here\n") }
    #expect(try others.end() == .success)
  }
}
