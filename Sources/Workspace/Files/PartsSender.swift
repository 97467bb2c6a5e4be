import SatchelBundle
import SatchelPlatform
import SatchelValues

/// The sender of bundles whose pieces are stored here. The id identifies the sender, because a sender may change its
/// name.
public struct PartsSender {
  private let id: ReplicaID
  /// The beginnings of the file names under which earlier releases stored pieces from this sender. Those releases did
  /// not record the id.
  private let formerPrefixes: [String]

  /// - Parameter names: the name of the sender at this replica, and the name that the sender gives itself.
  public init(_ id: ReplicaID, named names: [String], dataset: String, to receiver: String) {
    self.id = id
    formerPrefixes = names.map { Manifest.namePrefix(dataset: dataset, from: $0, to: receiver) }
  }

  /// The number of a bundle whose pieces are stored here; nil if another sender made the bundle.
  func number(of waiting: BundleParts.Waiting) -> Int64? {
    let words = Paths.name(of: waiting.path).split(separator: "~")
    if words.count == 5 {
      guard words[4] == id.text else { return nil }
      return waiting.whole.dropLast(".satchel".utf8.count).split(separator: "-").last.flatMap { Int64($0) }
    }
    return formerPrefixes.lazy.compactMap { BundleArchive.number(in: waiting.whole, $0) }.first
  }
}
