import SatchelPlatform
import SatchelValues
import Testing

@Suite("Paths, randomness, consoles, errors")
struct SmallTests {
  @Test("paths are joined and parted")
  func paths() {
    #expect(Paths.join("a", "b") == "a/b")
    #expect(Paths.join("a/", "b") == "a/b")
    #expect(Paths.join("a", "/b") == "/b")
    #expect(Paths.join("", "b") == "b")
    #expect(Paths.join("a", "") == "a")
    #expect(Paths.parent(of: "/a/b/") == "/a")
    #expect(Paths.parent(of: "/a") == "/")
    #expect(Paths.parent(of: "/") == "/")
    #expect(Paths.parent(of: "a") == ".")
    #expect(Paths.parent(of: "a//b") == "a")
    #expect(Paths.name(of: "/a/b/") == "b")
    #expect(Paths.name(of: "b") == "b")
    #expect(Paths.name(of: "/") == "")
    #expect(Paths.name(of: "a/\u{338}b") == "\u{338}b")
  }

  @Test("an absolute path is tidy, and keeps the steps upward that a link may bend")
  func absolute() {
    #expect(Paths.absolute("a/./b//c", currentDirectory: "/x") == "/x/a/b/c")
    #expect(Paths.absolute("../a", currentDirectory: "/x/y") == "/x/y/../a")
    #expect(Paths.absolute("/a/", currentDirectory: "/x") == "/a")
    #expect(Paths.absolute(".", currentDirectory: "/") == "/")
  }

  @Test("random bytes come in any number, and differ")
  func random() {
    #expect(SystemRandom().bytes(0) == [])
    let bytes = SystemRandom().bytes(1000)
    #expect(bytes.count == 1000)
    #expect(Set(bytes[256...]).count > 100)
    #expect(SystemRandom().identifier(BundleID.self) != SystemRandom().identifier(BundleID.self))
  }

  @Test("colours go to a terminal that shows them, unless NO_COLOR is set")
  func colours() {
    #expect(Terminal.colourAllowed(onTerminal: true, noColor: nil, term: "xterm"))
    #expect(Terminal.colourAllowed(onTerminal: true, noColor: "", term: nil))
    #expect(!Terminal.colourAllowed(onTerminal: true, noColor: "1", term: "xterm"))
    #expect(!Terminal.colourAllowed(onTerminal: true, noColor: nil, term: "dumb"))
    #expect(!Terminal.colourAllowed(onTerminal: false, noColor: nil, term: "xterm"))
  }

  @Test("a collecting console keeps both streams apart and answers in order")
  func collects() {
    let console = CollectingConsole(answers: ["yes"])
    console.out("a")
    console.error("b")
    console.out("c\n")
    #expect(console.outText == "ac\n")
    #expect(console.errorText == "b")
    #expect(console.readLine() == "yes")
    #expect(console.readLine() == nil)
  }

  @Test("an error says what is wrong, where, and what to do next")
  func words() {
    let error = PlatformError.locked(path: "w/lock")
    #expect(error.message == "w/lock: another process holds this lock.")
    #expect(error.hint == "Wait until the other command ends, then run this one again.")
    let other = PlatformError.other(operation: "read", path: "f", errno: 5)
    #expect(other.message == "f: read failed: Input/output error.")
    #expect(other.about("g").path == "g")
  }

  @Test("mounts are read as the kernel writes them")
  func mounts() throws {
    let text =
      """
      36 35 98:0 / /media/ann/RED\\040STICK rw,noatime shared:1 - vfat /dev/sda1 rw\n1 0 8:1 / / rw - ext4 /dev/root \
      rw\n
      """
    #expect(Mount.list(Array(text.utf8)).map(\.path) == ["/media/ann/RED STICK", "/"])
    #expect(Mount.list(Array("36 35\n\n".utf8)).isEmpty)
    let real = try HostFileSystem().mounts()
    #expect(real.contains { $0.path == "/proc" } && Set(real.map(\.id)).count == real.count)
  }
}
