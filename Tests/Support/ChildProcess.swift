import Foundation

/// A program that runs beside a test as a separate process. All programs start here, one after the other. Otherwise a
/// program that another thread starts would inherit the pipes that Foundation is making. A reader of such a pipe would
/// then also wait for the end of that program.
public final class ChildProcess {
  /// The target of the program's error output.
  public enum Complaints: Sendable { case apart, withOutput, nowhere }

  private static let starting = NSLock()

  private let process = Process()
  private let input: FileHandle?
  private let output: FileHandle
  private let complaints: FileHandle?

  /// Starts a program. Its folder and environment are those of this process, unless others are given. Its input is
  /// empty unless `takesInput` is true.
  public init(
    _ path: String, _ arguments: [String], in folder: String? = nil, environment: [String: String]? = nil,
    takesInput: Bool = false, complaints place: Complaints = .apart
  ) throws {
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(filePath: folder) }
    if let environment { process.environment = environment }
    Self.starting.lock()
    defer { Self.starting.unlock() }
    let (toIt, fromIt, aside) = (takesInput ? Pipe() : nil, Pipe(), place == .apart ? Pipe() : nil)
    process.standardInput = toIt ?? FileHandle.nullDevice
    process.standardOutput = fromIt
    process.standardError = aside ?? (place == .withOutput ? fromIt : FileHandle.nullDevice)
    (input, output, complaints) = (toIt?.fileHandleForWriting, fromIt.fileHandleForReading, aside?.fileHandleForReading)
    try process.run()
  }

  public var identifier: Int32 { process.processIdentifier }

  public func write(_ bytes: some Sequence<UInt8>) { input?.write(Data(bytes)) }

  /// Closes the program's input.
  public func endInput() { try? input?.close() }

  /// The program's output since the last call. Waits for output. Empty at the end.
  public func read() -> [UInt8] { [UInt8](output.availableData) }

  /// All of the program's output until the program ends.
  public func readToEnd() -> [UInt8] { [UInt8](output.readDataToEndOfFile()) }

  /// All of the program's error output until the program ends. Read the output first, if there is much of it.
  public func complaint() -> String { String(decoding: complaints?.readDataToEndOfFile() ?? Data(), as: UTF8.self) }

  /// Sends SIGTERM to the program.
  public func terminate() { process.terminate() }

  /// Waits for the program's end, and returns its exit status. If a signal ended it, returns the signal's number.
  @discardableResult
  public func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Whether a signal ended the program. Call `wait` first.
  public var wasKilled: Bool { process.terminationReason == .uncaughtSignal }
}
