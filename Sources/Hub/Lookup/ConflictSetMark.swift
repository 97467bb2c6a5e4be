import SatchelConflicts
import SatchelCrypto
import SatchelValues

/// A digest of the conflicts that a page shows. A decision about many conflicts carries it, so that the decision is
/// about the conflicts that the person saw, and not only about as many.
public struct ConflictSetMark: Hashable, Sendable {
  public let text: String

  /// - Parameter text: a mark that a form sends back.
  public init(_ text: String) { self.text = text }

  init(of ids: some Sequence<ConflictID>) { self.init(lines: ids.map(\.text)) }

  /// The mark of decided conflicts. A decision that was made again has another mark.
  init(ofDecided conflicts: [StoredConflict]) {
    self.init(lines: conflicts.map { "\($0.record.id.text) \($0.decision?.at ?? 0)" })
  }

  private init(lines: [String]) {
    text = String(Digest.of(Array(lines.sorted().joined(separator: "\n").utf8)).hexadecimal.prefix(32))
  }
}
