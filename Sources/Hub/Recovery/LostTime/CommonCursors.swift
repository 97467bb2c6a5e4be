import SatchelCrypto
import SatchelValues

/// For each emission of the lost time: the cursor up to which the emission certainly contained the changes in this
/// hub's log.
///
/// An emission names the emissions that its device may have had before. So it contains everything that this hub logged
/// before it made one of those emissions. Each chain of emissions counts alone, because two lost times may belong to
/// different histories.
struct CommonCursors {
  private var cursors: [Digest: Cursor] = [:]
  /// The cursor for an emission whose chain this hub does not know, such as the first emission of an epoch.
  private var least = Cursor.zero

  init() {}

  /// - Parameters:
  ///   - emissions: the emissions of the lost time, the oldest first.
  ///   - followed: for each emission, the emissions that it may follow.
  ///   - known: the cursors of the emissions that this hub knows.
  init(of emissions: [Digest], following followed: [Digest: [Digest]], known: [Digest: Cursor]) {
    for emission in emissions {
      let common = (followed[emission] ?? []).compactMap { known[$0] ?? cursors[$0] }.max()
      if let common { cursors[emission] = common }
    }
    least = cursors.values.min() ?? .zero
  }

  subscript(emission: Digest) -> Cursor { cursors[emission] ?? least }
}
