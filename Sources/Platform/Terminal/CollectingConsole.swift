import Synchronization

/// A console for tests. It stores the output, and reads the input from lists, so that commands run in the test's own
/// process.
public final class CollectingConsole: Console {
  private struct State {
    var out = ""
    var error = ""
    var transcript = ""
    var answers: [String]
    var secrets: [String]
    var input: [UInt8]
    var bytes: [UInt8] = []
  }

  private let state: Mutex<State>
  public let traits: ConsoleTraits
  private let variables: [String: String]

  /// - Parameters:
  ///   - answers: the lines that the user types.
  ///   - secrets: the lines that the user types without echo.
  ///   - input: the bytes on standard input.
  ///   - environment: the environment variables.
  public init(
    answers: [String] = [], secrets: [String] = [], input: [UInt8] = [], environment: [String: String] = [:],
    traits: ConsoleTraits = ConsoleTraits()
  ) {
    state = Mutex(State(answers: answers, secrets: secrets, input: input))
    variables = environment
    self.traits = traits
  }

  /// All text on standard output so far.
  public var outText: String { state.withLock { $0.out } }
  /// All text on standard output and standard error so far, in the order in which a terminal would show it.
  public var transcript: String { state.withLock { $0.transcript } }
  /// All text on standard error so far.
  public var errorText: String { state.withLock { $0.error } }

  /// All bytes on standard output so far.
  public var outputBytes: [UInt8] { state.withLock { $0.bytes } }

  public func readBytes(_ most: Int) -> [UInt8] {
    state.withLock { state in
      let bytes = Array(state.input.prefix(most))
      state.input.removeFirst(bytes.count)
      return bytes
    }
  }

  public func outBytes(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }
  public func out(_ text: String) {
    state.withLock { state in
      state.out += text
      state.transcript += text
    }
  }
  public func error(_ text: String) {
    state.withLock { state in
      state.error += text
      state.transcript += text
    }
  }
  public func readLine() -> String? { state.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() } }
  public func environment(_ name: String) -> String? { variables[name] }

  public func readSecret(_ prompt: String) -> [UInt8]? {
    state.withLock { $0.secrets.isEmpty ? nil : Array($0.secrets.removeFirst().utf8) }
  }
}
