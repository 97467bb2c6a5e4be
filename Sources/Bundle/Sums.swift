import SatchelCrypto

/// The list of digests that the signature covers, in the form of `b2sum -c`.
struct Sums {
  private let digests: [(name: EntryName, digest: Digest)]

  private static let digestDigits = 2 * Digest.size

  var names: [EntryName] { digests.map(\.name) }

  subscript(_ name: EntryName) -> Digest? { digests.first { $0.name == name }?.digest }

  /// Reads lines. Each line has a digest, two spaces and a name. The names must be in order, each once.
  init(_ bytes: [UInt8]) throws(BundleError) {
    var digests: [(name: EntryName, digest: Digest)] = []
    guard bytes.last == UInt8(ascii: "\n") else { throw .manifest("B2SUMS does not end with a newline") }
    for line in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let rest = line.dropFirst(Self.digestDigits)
      guard let digest = Digest(hexadecimal: String(decoding: line.prefix(Self.digestDigits), as: UTF8.self)),
        rest.starts(with: "  ".utf8)
      else { throw .manifest("B2SUMS has a malformed line") }
      guard let name = EntryName(bytes: rest.dropFirst(2)), name > .sums else {
        throw .newerFormat("it has an entry that this version does not know")
      }
      if let last = digests.last, last.name >= name { throw .manifest("B2SUMS is not in the entries' order") }
      digests.append((name, digest))
    }
    self.digests = digests
  }
}
