import Glibc
import Synchronization

/// The standard input, output and error of this process.
///
/// The reader of the output may end early, as in `satchel log | head`. The rest of the output is then dropped, and
/// the command runs to its end. So creating a `Terminal` makes the process ignore SIGPIPE.
public final class Terminal: Console {
  private struct Output {
    var readerLeft = false
    var failure: PlatformError?
  }

  private let output = Mutex(Output())

  public init() { signal(SIGPIPE, SIG_IGN) }

  /// The first error while standard output was written, for example a full disk; nil if there was none. After an
  /// error the output is not complete.
  public var failure: PlatformError? { output.withLock { $0.failure } }

  public func out(_ text: String) {
    output.withLock { output in
      if output.readerLeft || output.failure != nil { return }
      switch writeFully(Array(text.utf8), to: STDOUT_FILENO) {
      case 0: break
      case EPIPE: output.readerLeft = true
      case let code: output.failure = PlatformError(errno: code, operation: "write", path: "standard output")
      }
    }
  }

  public func outBytes(_ bytes: [UInt8]) throws(PlatformError) {
    let code = writeFully(bytes, to: STDOUT_FILENO)
    if code != 0 { throw PlatformError(errno: code, operation: "write", path: "standard output") }
  }

  public func readBytes(_ most: Int) throws(PlatformError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: most)
    let count = try systemCall("read", "standard input") {
      unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
    }
    return Array(buffer[..<count])
  }

  public func error(_ text: String) {
    // If standard error fails, there is no place to report that.
    _ = writeFully(Array(text.utf8), to: STDERR_FILENO)
  }

  public func readLine() -> String? { Swift.readLine(strippingNewline: true) }

  public func readSecret(_ prompt: String) -> [UInt8]? { HiddenLine.read(prompt) }

  public var traits: ConsoleTraits {
    ConsoleTraits(
      width: Self.width(of: STDOUT_FILENO),
      colour: Self.colourAllowed(
        onTerminal: Self.isTerminal(STDOUT_FILENO), noColor: environment("NO_COLOR"), term: environment("TERM")),
      interactive: Self.isTerminal(STDERR_FILENO), showsOutput: Self.isTerminal(STDOUT_FILENO))
  }

  public static func isTerminal(_ fd: Int32) -> Bool { isatty(fd) == 1 }

  /// The width of a terminal in columns; 80 if there is no terminal, or if it does not report a width.
  public static func width(of fd: Int32) -> Int {
    var size = winsize()
    guard unsafe ioctl(fd, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Whether the output has colours: only on a terminal that can show them, and only if `NO_COLOR` is empty or not
  /// set (https://no-color.org).
  public static func colourAllowed(onTerminal: Bool, noColor: String?, term: String?) -> Bool {
    onTerminal && (noColor ?? "").isEmpty && term != "dumb"
  }

  public func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }
}
