import SatchelCrypto

/// The signed list of digests, in the form that `b2sum -c` reads.
struct Sums {
  private let digests: [(name: EntryName, digest: Digest)]

  private static let digestDigits = 2 * Digest.size

  var names: [EntryName] { digests.map(\.name) }

  subscript(_ name: EntryName) -> Digest? { digests.first { $0.name == name }?.digest }

  /// Parses lines of a digest, two spaces and a name. Each name occurs once, and the names are in the order of the
  /// entries.
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
