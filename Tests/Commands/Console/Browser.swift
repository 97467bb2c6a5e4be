import Foundation
import SatchelPlatform
import Synchronization

/// Ends a console's server when the test is over.
final class EndOfTest: EndRequest {
  private let asked = DispatchSemaphore(value: 0)
  private let ending = DispatchSemaphore(value: 0)

  /// The console asks twice: once before it begins to serve, and once while it serves.
  func comes(within milliseconds: Int64) -> Bool {
    if milliseconds == 0 { return false }
    asked.signal()
    ending.wait()
    return true
  }

  func waitUntilAsked() { asked.wait() }
  func come() { ending.signal() }
}

/// Plays a browser: keeps the console's cookie, sends forms, and names their origin. It writes to the socket directly,
/// because some tests need false headers that no real browser would send.
final class Browser {
  struct Answer {
    let status: Int
    let headers: String
    let text: String

    func header(_ name: String) -> String? {
      headers.components(separatedBy: "\r\n").first { $0.hasPrefix("\(name): ") }.map {
        String($0.dropFirst(name.count + 2))
      }
    }
  }

  let port: Int
  private let way: String
  private(set) var cookie: String?
  /// The path of the session's pages, without a slash at its end.
  private(set) var folder = ""
  /// The server's first answer, which began the session.
  let entry: Answer

  /// - Parameter address: the address that the console printed for the person.
  init(_ address: String) throws {
    let parts = address.components(separatedBy: ":")[2].components(separatedBy: "/")
    port = Int(parts[0]) ?? 0
    way = "/" + parts[1]
    entry = Self.answer(Self.visit(way, port: port))
    let answer = entry
    cookie = answer.header("Set-Cookie")?.components(separatedBy: ";")[0]
    folder = String((answer.header("Location") ?? "").dropLast())
  }

  func open() -> Answer { send("GET", outside: way, cookie: nil) }

  private static func visit(_ way: String, port: Int) -> [UInt8] {
    let line = Line(port: port)
    line.send(Array("GET \(way) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8))
    return line.rest()
  }

  func get(_ path: String) -> Answer { send("GET", outside: folder + path, cookie: cookie) }
  /// - Parameter language: the languages that a person chose in the browser's settings.
  func get(_ path: String, language: String) -> Answer {
    send("GET", outside: folder + path, cookie: cookie, more: ["Accept-Language: \(language)"])
  }
  func get(outside path: String, cookie: String?) -> Answer { send("GET", outside: path, cookie: cookie) }
  func get(_ path: String, cookie: String?) -> Answer { send("GET", outside: folder + path, cookie: cookie) }
  func get(_ path: String, host: String) -> Answer {
    send("GET", outside: folder + path, cookie: cookie, host: host)
  }

  func post(_ path: String, _ fields: [String: String]) -> Answer {
    post(path, fields, origin: "http://127.0.0.1:\(port)")
  }

  func post(_ path: String, _ fields: [String: String], origin: String?) -> Answer {
    let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let body = fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }.joined(
      separator: "&")
    return send(
      "POST", outside: folder + path, cookie: cookie,
      more: ["Content-Type: application/x-www-form-urlencoded"] + Self.origin(origin),
      body: Array(body.utf8))
  }

  func upload(_ files: [(name: String, bytes: [UInt8])]) -> Answer {
    let body = files.flatMap { Self.head(ofFile: $0.name) + $0.bytes + Array("\r\n".utf8) } + Self.end
    return result(after: send("POST", outside: folder + "/import", cookie: cookie, more: formHeaders, body: body))
  }

  /// Sends a form that has fields and one file.
  func post(_ path: String, _ fields: [String: String], file: (name: String, bytes: [UInt8])) -> Answer {
    let texts = fields.flatMap { name, value in
      Array("--part\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
    }
    let body = texts + Self.head(ofFile: file.name) + file.bytes + Array("\r\n".utf8) + Self.end
    return send("POST", outside: folder + path, cookie: cookie, more: formHeaders, body: body)
  }

  /// Uploads a file in pieces, so that the file need not fit into memory.
  func upload(fileAt path: String) throws -> Answer {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    let size = Int(try file.seekToEnd())
    try file.seek(toOffset: 0)
    let head = Self.head(ofFile: "large.satchel")
    let end = Array("\r\n".utf8) + Self.end
    let line = Line(port: port)
    let count = head.count + size + end.count
    line.send(self.head("POST", folder + "/import", cookie, formHeaders, bytes: count) + head)
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { line.send([UInt8](piece)) }
    line.send(end)
    return result(after: Self.answer(line.rest()))
  }

  /// Sends a form that begins long work. Waits until the work has ended, and returns the page with the result.
  func work(_ path: String, _ fields: [String: String]) -> Answer { result(after: post(path, fields)) }

  /// Waits for the long work that a form began, and returns the page with the result. If the form began no work,
  /// returns `answer`.
  func result(after answer: Answer) -> Answer {
    guard answer.status == 303, answer.header("Location") == "work" else { return answer }
    let end = ContinuousClock.now + .seconds(120)
    while true {
      let page = get("/work")
      if page.header("Refresh") == nil || ContinuousClock.now > end { return page }
    }
  }

  /// Announces an upload of `count` bytes, but sends only these first bytes. The connection stays open.
  func begin(_ bytes: [UInt8], of count: Int) -> Line {
    let line = Line(port: port)
    let lines = head("POST", folder + "/import", cookie, formHeaders, bytes: count)
    line.send(lines + Self.head(ofFile: "half.satchel") + bytes)
    return line
  }

  static let form = ["Content-Type: application/x-www-form-urlencoded"]

  /// Announces a body of so many bytes, but sends no byte of it.
  func begin(_ method: String, _ path: String, cookie: String?, bytes: Int) -> Line {
    let line = Line(port: port)
    line.send(head(method, path, cookie, Self.form, bytes: bytes))
    return line
  }

  private var formHeaders: [String] {
    ["Content-Type: multipart/form-data; boundary=part"] + Self.origin("http://127.0.0.1:\(port)")
  }

  private static func head(ofFile name: String) -> [UInt8] {
    Array(
      """
      --part\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\nContent-Type: \
      application/octet-stream\r\n\r\n
      """
      .utf8)
  }

  private static let end = Array("--part--\r\n".utf8)

  private static func origin(_ origin: String?) -> [String] { origin.map { ["Origin: \($0)"] } ?? [] }

  func send(_ method: String, _ path: String) -> Answer { send(method, outside: folder + path, cookie: cookie) }

  /// Sends a request for any path, inside or outside the session's folder.
  func send(
    _ method: String, outside path: String, cookie: String?, host: String? = nil, more: [String] = [],
    body: [UInt8] = []
  ) -> Answer {
    let line = Line(port: port)
    line.send(head(method, path, cookie, host: host, more, bytes: body.count) + body)
    return Self.answer(line.rest())
  }

  private func head(
    _ method: String, _ path: String, _ cookie: String?, host: String? = nil, _ more: [String], bytes: Int
  ) -> [UInt8] {
    let lines =
      ["\(method) \(path) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close"]
      + (cookie.map { ["Cookie: \($0)"] } ?? []) + more + (bytes == 0 ? [] : ["Content-Length: \(bytes)"])
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private static func answer(_ bytes: [UInt8]) -> Answer {
    let text = String(decoding: bytes, as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    let status = Int(parts[0].split(separator: " ").dropFirst().first ?? "") ?? 0
    return Answer(status: status, headers: parts[0], text: parts.dropFirst().joined(separator: "\r\n\r\n"))
  }
}

/// A connection to a server on this machine. Its deinitialiser closes it.
final class Line {
  private let fd: Int32
  private let isConnected: Bool

  init(port: Int) {
    fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // If the server sends nothing for 60 seconds, reading ends. The test then fails instead of hanging.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(fd, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let fd = fd
    isConnected =
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      } == 0
  }

  deinit { close(fd) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while isConnected, sent < bytes.count {
      // Sending may fail, because the server may close the connection when it needs no more bytes.
      let count = bytes.withUnsafeBytes {
        Glibc.send(fd, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      sent += count
    }
  }

  func hangUp() { shutdown(fd, Int32(SHUT_RDWR)) }

  /// Everything that the server sends until it closes the connection.
  func rest() -> [UInt8] {
    guard isConnected else { return [] }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(fd, &buffer, buffer.count)
      if count <= 0 { return answer }
      answer += buffer[..<count]
    }
  }
}
