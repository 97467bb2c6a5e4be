import Foundation
import TestSupport

/// A stock `sqlite3` process that has a database open. It runs one statement after the other.
final class Shell {
  private let process: ChildProcess
  private var unread: [UInt8] = []
  private var asked = 0

  /// How long a writer waits for another writer, in seconds. Satchel promises to need less time.
  static let patience = 5.0

  init(_ database: String) throws {
    // `stdbuf -oL` makes the process print each line at once, instead of a whole block.
    process = try ChildProcess("/usr/bin/stdbuf", ["-oL", "/usr/bin/sqlite3", "-batch", database], takesInput: true)
    try ask(".bail on\n.timeout \(Int(Self.patience * 1000))")
  }

  /// Runs statements. Returns the lines that they print, and throws the shell's error output.
  @discardableResult func ask(_ sql: String) throws -> [String] {
    asked += 1
    process.write("\(sql)\n.print done \(asked)\n".utf8)
    var lines: [String] = []
    while let line = line() {
      if line == "done \(asked)" { return lines }
      lines.append(line)
    }
    throw ToolFailure("sqlite3 stopped at \(sql): \(process.complaint())")
  }

  /// Ends the process. This releases its locks.
  func close() {
    process.endInput()
    process.wait()
  }

  private func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = process.read()
      if more.isEmpty { return nil }
      unread += more
    }
  }
}

/// A process that works with a database for as long as the test runs.
final class Worker: @unchecked Sendable {
  private let lock = NSLock()
  private let ended = DispatchSemaphore(value: 0)
  private var isStopping = false
  private var rounds = 0
  private var longest = 0.0
  private var failure: String?

  /// - Parameter turn: is called again and again, with the number of the turn. Its time is measured, and an error ends
  ///   the work.
  init(_ database: String, _ turn: @escaping @Sendable (Shell, Int) throws -> Void) {
    Thread.detachNewThread {
      do {
        let shell = try Shell(database)
        while self.goesOn {
          let begin = ContinuousClock.now
          try turn(shell, self.turns)
          self.note(begin.duration(to: .now))
        }
        shell.close()
      } catch { self.lock.withLock { self.failure = "\(error)" } }
      self.ended.signal()
    }
  }

  private var goesOn: Bool { lock.withLock { !isStopping } }

  private func note(_ time: Duration) {
    lock.withLock {
      rounds += 1
      longest = max(longest, time / .seconds(1))
    }
  }

  /// The number of completed turns.
  var turns: Int { lock.withLock { rounds } }
  /// The time of the longest turn, in seconds.
  var longestTurn: Double { lock.withLock { longest } }

  private func stop() { lock.withLock { isStopping = true } }

  /// Lets all workers work until `body` has ended, and waits for their last turns. Check each worker's `complaint`
  /// afterwards.
  static func work(_ workers: [Worker], during body: () throws -> Void) throws {
    defer {
      for worker in workers { worker.stop() }
      for worker in workers { worker.ended.wait() }
    }
    try body()
  }

  /// The error that ended the work early; nil: there was no error.
  var complaint: String? { lock.withLock { failure } }
}
