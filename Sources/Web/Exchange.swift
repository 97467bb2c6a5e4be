import CMicroHTTPD
import SatchelPlatform

/// One request while its body arrives. It belongs to the server's thread.
final class Exchange {
  /// How many fields and files a form has at most: two for each column that a table can have, and more.
  private static let mostFields = 5000

  private(set) var form: [WebRequest.Field] = []
  private(set) var isTooLarge = false
  private var left: Int
  /// Parts the body of a form; nil: it is none.
  private var parser: OpaquePointer?

  init(_ connection: OpaquePointer, mostBytes: Int) {
    left = mostBytes
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

  deinit { if let parser { MHD_destroy_post_processor(parser) } }

  func take(_ bytes: UnsafePointer<CChar>, _ count: Int) {
    left -= count
    if left < 0 {
      isTooLarge = true
      form = []
    }
    if isTooLarge { return }
    if let parser { MHD_post_process(parser, bytes, count) }
  }

  private func add(_ name: String, _ file: String?, _ bytes: [UInt8], isNew: Bool) -> MHD_Result {
    if isNew {
      guard form.count < Self.mostFields else {
        isTooLarge = true
        return .NO
      }
      form.append(WebRequest.Field(name: name, file: file, bytes: bytes))
    } else if !form.isEmpty {
      form[form.count - 1].bytes += bytes
    }
    return .YES
  }
}
