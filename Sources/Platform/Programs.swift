import Glibc

/// A program that the owner of this machine has chosen, for example a hook of a workspace.
public struct Program: Sendable {
  public let path: String
  /// The path of the file that the program reads as standard input.
  public let input: String
  /// Environment variables in addition to those of this process, as `NAME=value`.
  public let variables: [String]
  /// The longest time that the program may take, in milliseconds.
  public let longest: Int64

  public init(path: String, input: String, variables: [String], longest: Int64) {
    self.path = path
    self.input = input
    self.variables = variables
    self.longest = longest
  }
}

/// How a program ended.
public enum ProgramEnd: Hashable, Sendable {
  case exited(Int32)
  case killed(signal: Int32)
  /// The program took longer than `longest`. It was killed with all programs that it had started.
  case overdue
  /// A person or the system asked this process to end. The program got the same signal, and ended.
  case interrupted
}

/// Runs programs.
public protocol ProgramRunner: Sendable {
  /// Runs a program and waits for its end. Its standard output goes to standard error.
  ///
  /// Throws `.permissionDenied` if the program belongs to another user than this process's user or root, or if other
  /// users can write to its file.
  /// - Parameter opened: called when the input file is open, before the program starts. The caller may then remove
  ///   the file.
  func run(_ program: Program, opened: () -> Void) throws(PlatformError) -> ProgramEnd
}

/// Runs the programs of this machine.
public struct HostPrograms: ProgramRunner {
  public init() {}

  public func run(_ program: Program, opened: () -> Void) throws(PlatformError) -> ProgramEnd {
    try checkOwner(program.path)
    // The program has its own process group, so Ctrl-C reaches only this process. The signal is held and sent to the
    // program.
    let held = HeldEndSignals()
    var request: Int32?
    defer { held.release(request) }
    let input = try systemCall("open", program.input) { unsafe Glibc.open(program.input, O_RDONLY | O_CLOEXEC) }
    defer { _ = Glibc.close(input) }
    opened()
    let process = try start(program, reading: input)
    return try wait(for: process, program, &request)
  }

  private func checkOwner(_ path: String) throws(PlatformError) {
    var info = stat()
    try systemCall("stat", path) { unsafe lstat(path, &info) }
    guard info.kind == .file else { throw .notAFile(path: path) }
    guard [0, geteuid()].contains(info.st_uid), info.st_mode & 0o022 == 0 else { throw .permissionDenied(path: path) }
  }

  private func start(_ program: Program, reading input: Int32) throws(PlatformError) -> pid_t {
    try refuseZeroByte("start", program.path)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The program gets its own process group, so that all programs that it starts can be killed with it. It blocks no
    // signals, although this thread does.
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    var noSignals = sigset_t()
    unsafe sigemptyset(&noSignals)
    unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
    var words = unsafe [strdup(program.path), nil]
    var variables = unsafe inherited() + program.variables.map { unsafe strdup($0) } + [nil]
    defer {
      var texts = unsafe words + variables
      while let text = unsafe texts.popLast() { unsafe free(text) }
    }
    var process = pid_t()
    let code = unsafe posix_spawn(&process, program.path, &actions, &attributes, &words, &variables)
    if code != 0 { throw PlatformError(errno: code, operation: "start", path: program.path) }
    return process
  }

  private func inherited() -> [UnsafeMutablePointer<CChar>?] {
    var copies = unsafe [UnsafeMutablePointer<CChar>?]()
    var next = unsafe environ
    while let text = unsafe next.pointee {
      unsafe copies.append(strdup(text))
      unsafe next += 1
    }
    return unsafe copies
  }

  /// - Parameter request: the signal that asked this process to end; nil if there was none.
  private func wait(
    for process: pid_t, _ program: Program, _ request: inout Int32?
  ) throws(PlatformError) -> ProgramEnd {
    let limit = TimeLimit(milliseconds: program.longest, by: SystemClock())
    var status: Int32 = 0
    while try systemCall("wait", program.path, { unsafe waitpid(process, &status, WNOHANG) }) == 0 {
      if limit.isOver() {
        _ = kill(-process, SIGKILL)
        try systemCall("wait", program.path) { unsafe waitpid(process, &status, 0) }
        return .overdue
      }
      guard let signal = try HeldEndSignals.next(within: 10) else { continue }
      // After a second request the program is killed, because it has ignored the first.
      _ = kill(-process, request == nil ? signal : SIGKILL)
      request = signal
    }
    if request != nil { return .interrupted }
    // As in the macros of wait(2), the low seven bits are the signal, and the next byte is the exit code.
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal)
  }
}
