import SatchelBundle
import SatchelCapture

extension [TrackedTable] {
  /// The features that a reader must support to read rows of these tables.
  public var critical: Set<Manifest.Critical> { contains { $0.info.isNamedByColumns } ? [.names] : [] }
}
