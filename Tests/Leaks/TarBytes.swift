@testable import SatchelBundle

/// The uncompressed tar of a bundle, with all bytes between and after the entries.
func tarBytes(of bundle: [UInt8]) throws -> [UInt8] {
  final class Bytes: ByteSource {
    private var rest: ArraySlice<UInt8>
    init(_ bytes: [UInt8]) { rest = bytes[...] }
    func read(into buffer: inout [UInt8]) -> Int {
      let part = rest.prefix(buffer.count)
      buffer.replaceSubrange(..<part.count, with: part)
      rest = rest.dropFirst(part.count)
      return part.count
    }
  }
  let source = try ZstdSource(limits: BundleLimits(), Bytes(bundle))
  var tar: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = try source.read(into: &buffer)
    if count == 0 { return tar }
    tar += buffer[..<count]
  }
}
