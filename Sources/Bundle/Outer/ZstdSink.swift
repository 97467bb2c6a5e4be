import CZstd

/// Compresses what is written, as one zstd frame.
final class ZstdSink: ByteSink {
  private let sink: any ByteSink
  private let context: OpaquePointer
  private var packed = [UInt8](repeating: 0, count: 128 << 10)

  /// Balances speed and size for lines of JSON; readers do not care.
  private static let level: Int32 = 3

  /// From so many bytes on it is worth a thread or two. Each takes this much at a time, with some of what came before it, so that what
  /// comes out is as small, and the same on every machine.
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

  func write(_ bytes: [UInt8]) throws { _ = try pack(bytes, ZSTD_e_continue) }

  func finish() throws {
    while try pack([], ZSTD_e_end) > 0 {}
    try sink.finish()
  }

  /// Returns how much is held back.
  private func pack(_ bytes: [UInt8], _ operation: ZSTD_EndDirective) throws -> Int {
    var taken = 0
    var rest = 0
    repeat {
      var count = 0
      bytes.withUnsafeBytes { source in
        packed.withUnsafeMutableBytes { target in
          var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: taken)
          var output = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
          rest = ZSTD_compressStream2(context, &output, &input, operation)
          taken = input.pos
          count = output.pos
        }
      }
      if ZSTD_isError(rest) != 0 { throw BundleError.archive(String(cString: ZSTD_getErrorName(rest))) }
      try sink.write(count == packed.count ? packed : Array(packed[..<count]))
    } while taken < bytes.count
    return rest
  }
}
