import SatchelValues

/// The state that decided a user's rights at an earlier time.
struct FormerMoment {
  let cursor: Cursor
  /// The version of the dataset.
  let version: Int64
  /// The user's attributes. nil if unknown.
  let attributes: [Field]?

  init(_ emission: Emission) { self.init(emission, cursor: emission.cursor) }

  /// A moment between an emission and the next one.
  init(_ emission: Emission, cursor: Cursor) {
    (self.cursor, version, attributes) = (cursor, emission.version, emission.attributes)
  }
}
