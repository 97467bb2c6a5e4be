import CZstd

/// Compresses the bytes that are written into one zstd frame.
final class ZstdSink: ByteSink {
  private let sink: any ByteSink
  private let context: OpaquePointer
  /// Only a full buffer is passed on. Otherwise the sizes of the pieces would depend on the timing of threads.
  private var packed = [UInt8](repeating: 0, count: 128 << 10)
  private var filled = 0
  private var hasBegun = false

  /// A compromise between speed and size for lines of JSON. Readers accept any level.
  private static let level: Int32 = 3

  /// With more bytes than this, threads compress the input. Each thread takes this number of bytes at a time. The
  /// output does not depend on the timing of the threads, and is hardly larger.
  private static let shareOfThread: Int32 = 1 << 20
  private static let threads: Int32 = 2

  /// - Parameter bytes: the approximate number of bytes that will be written.
  init(_ sink: any ByteSink, of bytes: Int64) throws {
    guard let context = ZSTD_createCCtx() else { throw BundleError.archive("out of memory") }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    if bytes > Self.shareOfThread {
      // A library without threads refuses these two parameters, and then works without threads.
      ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, Self.threads)
      ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, Self.shareOfThread)
    }
    self.sink = sink
    self.context = context
  }

  deinit { ZSTD_freeCCtx(context) }

  func write(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    if !hasBegun { beginAlone(unlessThreadsTake: bytes) }
    hasBegun = true
    _ = try pack(bytes, ZSTD_e_continue)
  }

  func finish() throws {
    while try pack([], ZSTD_e_end) > 0 {}
    try passOn()
    try sink.finish()
  }

  /// If the system cannot start threads, the library fails at the first byte. Then it is set to work without threads.
  private func beginAlone(unlessThreadsTake bytes: [UInt8]) {
    var output = ZSTD_outBuffer()
    let code = bytes.withUnsafeBytes { source in
      var input = ZSTD_inBuffer(src: source.baseAddress, size: 0, pos: 0)
      return ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue)
    }
    if ZSTD_isError(code) == 0 { return }
    ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 0)
  }

  /// Compresses bytes. Returns the number of bytes that the library still keeps.
  private func pack(_ bytes: [UInt8], _ operation: ZSTD_EndDirective) throws -> Int {
    var taken = 0
    var rest = 0
    repeat {
      bytes.withUnsafeBytes { source in
        packed.withUnsafeMutableBytes { target in
          var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: taken)
          var output = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: filled)
          rest = ZSTD_compressStream2(context, &output, &input, operation)
          taken = input.pos
          filled = output.pos
        }
      }
      if ZSTD_isError(rest) != 0 { throw BundleError.archive(String(cString: ZSTD_getErrorName(rest))) }
      if filled == packed.count { try passOn() }
    } while taken < bytes.count
    return rest
  }

  private func passOn() throws {
    if filled > 0 { try sink.write(filled == packed.count ? packed : Array(packed[..<filled])) }
    filled = 0
  }
}
