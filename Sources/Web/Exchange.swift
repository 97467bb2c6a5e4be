import CMicroHTTPD
import SatchelPlatform

/// One request while its body arrives. Only the server's thread uses it.
final class Exchange {
  /// The limit on the fields and files of a form. A table can have 2000 columns, and a form has two fields for each.
  private static let mostFields = 5000

  private(set) var form: [WebRequest.Field] = []
  private(set) var files: (any WebFiles)?
  /// The answer to a request that has already failed. nil if nothing has failed so far.
  private(set) var failure: WebResponse?
  private var left: Int
  private var fields = 0
  /// The parser of a form's body; nil: the body is no form.
  private var parser: OpaquePointer?

  init(_ connection: OpaquePointer, mostBytes: Int, files: (any WebFiles)?) {
    left = mostBytes
    self.files = files
    parser = nil
    parser = MHD_create_post_processor(
      connection, 16 << 10,
      { exchange, _, name, file, _, _, bytes, offset, count in
        guard let exchange, let name else { return .NO }
        let piece = bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
        return Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
          .add(String(cString: name), file.map { String(cString: $0) }, piece, isNew: offset == 0)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Makes an exchange that reads the body and keeps nothing of it.
  /// - Parameter answer: the answer to the request. nil: the request is answered like a request without a body.
  init(throwingAwayFor answer: WebResponse?) {
    left = 0
    failure = answer
    parser = nil
  }

  deinit { if let parser { MHD_destroy_post_processor(parser) } }

  func take(_ bytes: UnsafePointer<CChar>, _ count: Int) {
    if failure != nil { return }
    if let parser { MHD_post_process(parser, bytes, count) }
  }

  private func add(_ name: String, _ file: String?, _ bytes: [UInt8], isNew: Bool) -> MHD_Result {
    if failure != nil { return .NO }
    if isNew {
      fields += 1
      if fields > Self.mostFields { return end(with: Self.tooLarge) }
    }
    if let file { return add(toFile: file, bytes, isNew: isNew) }
    left -= bytes.count
    if left < 0 { return end(with: Self.tooLarge) }
    if isNew {
      form.append(WebRequest.Field(name: name, bytes: bytes))
    } else if !form.isEmpty {
      form[form.count - 1].bytes += bytes
    }
    return .YES
  }

  private func add(toFile name: String, _ bytes: [UInt8], isNew: Bool) -> MHD_Result {
    guard let files else { return .YES }
    do {
      if isNew { try files.begin(name) }
      try files.append(bytes)
      return .YES
    } catch { return end(with: files.answer(to: error)) }
  }

  /// Sets the final answer, and drops everything that the request brought.
  private func end(with answer: WebResponse) -> MHD_Result {
    failure = answer
    form = []
    files = nil
    return .NO
  }

  private static let tooLarge = WebResponse(
    status: 413, headers: [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")],
    body: Array("This form holds more than the console takes.\n".utf8))
}
