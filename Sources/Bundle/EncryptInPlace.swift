import SatchelCrypto
import SatchelPlatform

/// Replaces a bundle's file by its encrypted form, unless it is already encrypted. At every moment there is a file
/// with this name.
public func encryptInPlace(_ path: String, for recipients: [AgeRecipient], platform: Platform) throws {
  let files = platform.files
  let fd = try files.open(path)
  defer { files.close(fd) }
  let source = try PeekedSource(FileSource(fd, files: files), count: 64)
  if AgeOpener.isAge(source.beginning) { return }
  let aside = try files.createTemporary(in: Paths.parent(of: path), mode: 0o644)
  defer { files.close(aside.fd) }
  do {
    let sink = try AgeSink(FileSink(aside.fd, files: files), for: recipients, random: platform.random.bytes)
    var pieces = source.pieces()
    while let piece = try pieces.next() { try sink.write(piece) }
    try sink.finish()
    try files.sync(aside.fd)
    try files.rename(aside.path, to: path)
  } catch {
    // The temporary file is incomplete, so it is removed.
    try? files.remove(aside.path)
    throw error
  }
}
