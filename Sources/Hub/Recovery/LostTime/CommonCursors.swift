import SatchelCrypto
import SatchelValues

/// For each emission of the lost time, the cursor up to which its history certainly had the changes of this hub's log.
///
/// An emission names the emissions that its device may have before it. Its history has everything that this hub logged
/// before it made one of these. Two lost times may be of different histories, so each chain of emissions counts alone.
struct CommonCursors {
  private var cursors: [Digest: Cursor] = [:]
  /// For an emission whose chain this hub does not know, such as the first one of an epoch.
  private var least = Cursor.zero

  init() {}

  /// - Parameters:
  ///   - emissions: the emissions of the lost time, the oldest first.
  ///   - followed: the emissions that each of them may follow.
  ///   - known: the cursors of this hub's own emissions.
  init(of emissions: [Digest], following followed: [Digest: [Digest]], known: [Digest: Cursor]) {
    for emission in emissions {
      let common = (followed[emission] ?? []).compactMap { known[$0] ?? cursors[$0] }.max()
      if let common { cursors[emission] = common }
    }
    least = cursors.values.min() ?? .zero
  }

  subscript(emission: Digest) -> Cursor { cursors[emission] ?? least }
}
