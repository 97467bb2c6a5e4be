import Glibc

/// Reads a line without echo from the terminal of the process, even if its input and output are redirected.
enum HiddenLine {
  private static let most = 1024

  static func read(_ prompt: String) -> [UInt8]? {
    let fd = unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard fd >= 0 else { return nil }
    defer { _ = Glibc.close(fd) }
    var before = termios()
    guard unsafe tcgetattr(fd, &before) == 0 else { return nil }
    var quiet = before
    // Keys are read one by one, and Ctrl-C is an ordinary key. Otherwise Ctrl-C would end the process while the
    // terminal has no echo.
    quiet.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG)
    guard unsafe tcsetattr(fd, TCSAFLUSH, &quiet) == 0 else { return nil }
    defer { _ = unsafe tcsetattr(fd, TCSAFLUSH, &before) }
    _ = writeFully(Array(prompt.utf8), to: fd)
    let line = line(from: fd)
    _ = writeFully([0x0a], to: fd)
    return line
  }

  private static func line(from fd: Int32) -> [UInt8]? {
    var line: [UInt8] = []
    var key: UInt8 = 0
    while line.count < most {
      let count = unsafe Glibc.read(fd, &key, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { return nil }
      switch key {
      case 0x0a, 0x0d: return line
      case 0x03, 0x04: return nil
      case 0x08, 0x7f: removeCharacter(from: &line)
      case 0x15: line.removeAll()
      default: line.append(key)
      }
    }
    return nil
  }

  /// Removes the last character with all its UTF-8 bytes.
  private static func removeCharacter(from line: inout [UInt8]) {
    while let last = line.popLast(), last & 0xc0 == 0x80 {}
  }
}
