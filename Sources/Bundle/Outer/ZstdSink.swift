import CZstd

/// Compresses what is written, as one zstd frame.
final class ZstdSink: ByteSink {
  private let sink: any ByteSink
  private let context: OpaquePointer
  /// What is passed on when it is full: how much a thread has ready at some moment must not be seen in what is written.
  private var packed = [UInt8](repeating: 0, count: 128 << 10)
  private var filled = 0
  private var hasBegun = false

  /// Balances speed and size for lines of JSON; readers do not care.
  private static let level: Int32 = 3

  /// From so many bytes on it is worth a thread or two. Each takes this much at a time, with some of what came before
  /// it: what comes out is hardly larger, and the same however the threads run.
  private static let shareOfThread: Int32 = 1 << 20
  private static let threads: Int32 = 2

  /// - Parameter bytes: how many are to come, about.
  init(_ sink: any ByteSink, of bytes: Int64) throws {
    guard let context = ZSTD_createCCtx() else { throw BundleError.archive("out of memory") }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    if bytes > Self.shareOfThread {
      // A library that was built without threads refuses both, and does it alone.
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

  /// Where the system has no threads to give, the library fails at the first byte; it can do it alone.
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

  /// Returns how much is held back.
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
