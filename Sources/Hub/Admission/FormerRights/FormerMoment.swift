import SatchelValues

/// The state of the hub at an earlier time, by which a user's rights at that time are judged.
struct FormerMoment {
  let cursor: Cursor
  /// The version of the dataset at that time.
  let version: Int64
  /// The user's attributes at that time. nil if unknown.
  let attributes: [Field]?

  init(_ emission: Emission) { self.init(emission, cursor: emission.cursor) }

  /// A moment between an emission and the next one.
  init(_ emission: Emission, cursor: Cursor) {
    (self.cursor, version, attributes) = (cursor, emission.version, emission.attributes)
  }
}
