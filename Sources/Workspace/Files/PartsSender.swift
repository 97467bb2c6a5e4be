import SatchelBundle
import SatchelPlatform
import SatchelValues

/// The sender of bundles whose pieces wait. Its id decides, whatever name it gives itself.
public struct PartsSender {
  private let id: ReplicaID
  /// The beginnings of the names by which earlier releases kept its pieces: they did not record the id.
  private let formerPrefixes: [String]

  /// - Parameter names: the names that the sender has here or gives itself.
  public init(_ id: ReplicaID, named names: [String], dataset: String, to receiver: String) {
    self.id = id
    formerPrefixes = names.map { Manifest.namePrefix(dataset: dataset, from: $0, to: receiver) }
  }

  /// The number of a bundle of which pieces wait. nil if it is a bundle of another sender.
  func number(of waiting: BundleParts.Waiting) -> Int64? {
    let words = Paths.name(of: waiting.path).split(separator: "~")
    if words.count == 5 {
      guard words[4] == id.text else { return nil }
      return waiting.whole.dropLast(".satchel".utf8.count).split(separator: "-").last.flatMap { Int64($0) }
    }
    return formerPrefixes.lazy.compactMap { BundleArchive.number(in: waiting.whole, $0) }.first
  }
}
