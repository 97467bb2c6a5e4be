import SatchelCrypto

/// Decrypts the bytes of an encrypted source.
final class AgeSource: ByteSource {
  private let source: any ByteSource
  private var opener: AgeOpener
  private var opened: [UInt8] = []
  private var taken = 0
  private var isAtEnd = false
  private var buffer = [UInt8](repeating: 0, count: 128 << 10)

  init(_ source: any ByteSource, _ identities: [AgeIdentity]) {
    self.source = source
    opener = AgeOpener(.identities(identities))
  }

  func read(into target: inout [UInt8]) throws -> Int {
    while taken == opened.count, !isAtEnd { try openMore() }
    let count = min(target.count, opened.count - taken)
    target.replaceSubrange(..<count, with: opened[taken..<taken + count])
    taken += count
    return count
  }

  private func openMore() throws {
    let count = try source.read(into: &buffer)
    taken = 0
    do throws(AgeError) {
      if count == 0 {
        isAtEnd = true
        opened = try opener.finish()
      } else {
        opened = try opener.open(buffer[..<count])
      }
    } catch { throw BundleError.encryption(error) }
  }
}

/// Encrypts the bytes that are written, and passes them to another sink.
final class AgeSink: ByteSink {
  private let sink: any ByteSink
  private var sealer: AgeSealer

  init(_ sink: any ByteSink, for recipients: [AgeRecipient], random: (Int) -> [UInt8]) throws {
    self.sink = sink
    do throws(AgeError) { sealer = try AgeSealer(for: recipients, random: random) } catch {
      throw BundleError.encryption(error)
    }
    try sink.write(sealer.beginning)
  }

  func write(_ bytes: [UInt8]) throws { try sink.write(sealer.seal(bytes)) }

  func finish() throws {
    try sink.write(sealer.finish())
    try sink.finish()
  }
}
