import SatchelBundle
import SatchelCapture

extension [TrackedTable] {
  /// The features that a reader of rows of these tables must support.
  public var critical: Set<Manifest.Critical> { contains { $0.info.isNamedByColumns } ? [.names] : [] }
}
