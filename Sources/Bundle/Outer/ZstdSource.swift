import CZstd

/// Unpacks a source that is exactly one zstd frame.
final class ZstdSource: ByteSource {
  private let source: any ByteSource
  private let context: OpaquePointer
  private var packed: [UInt8] = []
  private var taken = 0
  private var isAtEnd = false
  private let limits: BundleLimits
  private var packedBytes: Int64 = 0
  private var unpackedBytes: Int64 = 0

  /// The base-2 logarithm of the largest window, which limits the memory to 2^23 bytes. Satchel writes with level 3,
  /// which refers back at most 2 MiB.
  static let windowLog: Int32 = 23
  /// The first bytes of every zstd frame.
  static let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]

  init(limits: BundleLimits, _ source: any ByteSource) throws {
    let peeked = try PeekedSource(source, count: Self.magic.count)
    guard peeked.beginning == Self.magic else {
      if peeked.beginning.isEmpty || Self.magic.starts(with: peeked.beginning) { throw BundleError.truncated }
      throw BundleError.notABundle("it is not compressed with zstd")
    }
    guard let context = ZSTD_createDCtx() else { throw BundleError.archive("out of memory") }
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)
    self.limits = limits
    self.source = peeked
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  func read(into buffer: inout [UInt8]) throws -> Int { try read(into: &buffer, count: buffer.count) }

  /// Fills the first `count` bytes of `buffer`. Returns fewer bytes only at the end of the frame.
  func read(into buffer: inout [UInt8], count: Int) throws -> Int {
    precondition(count <= buffer.count, "the buffer has room for what is asked")
    var filled = 0
    while filled < count, !isAtEnd {
      if taken == packed.count { try takeMore() }
      filled += try unpack(into: &buffer, from: filled, to: count)
    }
    return filled
  }

  /// Throws if the frame has more content, or if bytes follow the frame.
  func finish() throws {
    // The content may be read completely, and the end mark of the frame not yet.
    var rest = [UInt8](repeating: 0, count: 1)
    guard try read(into: &rest, count: 1) == 0, isAtEnd else { throw BundleError.trailingData }
    if taken < packed.count { throw BundleError.trailingData }
    var more = [UInt8](repeating: 0, count: 1)
    if try source.read(into: &more) > 0 { throw BundleError.trailingData }
  }

  private func takeMore() throws {
    var buffer = [UInt8](repeating: 0, count: 128 << 10)
    let count = try source.read(into: &buffer)
    if count == 0 { throw BundleError.truncated }
    packedBytes += Int64(count)
    packed = count == buffer.count ? buffer : Array(buffer[..<count])
    taken = 0
  }

  private func unpack(into buffer: inout [UInt8], from start: Int, to end: Int) throws -> Int {
    var status = 0
    var made = 0
    packed.withUnsafeBytes { source in
      buffer.withUnsafeMutableBytes { target in
        var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: taken)
        var output = ZSTD_outBuffer(dst: target.baseAddress, size: end, pos: start)
        status = ZSTD_decompressStream(context, &output, &input)
        taken = input.pos
        made = output.pos - start
      }
    }
    if ZSTD_isError(status) != 0 { throw Self.failure(status) }
    if status == 0 { isAtEnd = true }
    unpackedBytes += Int64(made)
    guard unpackedBytes <= limits.anyRatioBytes || unpackedBytes / limits.ratio <= packedBytes else {
      throw BundleError.tooLarge(
        "The unpacked content of \(packedBytes) bytes", limit: max(limits.anyRatioBytes, packedBytes * limits.ratio))
    }
    return made
  }

  private static func failure(_ status: Int) -> BundleError {
    ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge
      ? .tooLarge("The memory for unpacking it", limit: 1 << Int64(windowLog))
      : .notABundle("unpacking failed: \(String(cString: ZSTD_getErrorName(status)))")
  }
}
