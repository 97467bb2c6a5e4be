import SatchelConflicts
import SatchelRows
import SatchelValues

extension StepMerger {
  /// The results of the merge so far, except for the changes in the database.
  struct Progress {
    var holdsAny: Bool?
    /// The number of the device's changes that wait. nil: the changes are not counted yet.
    var heldCount: Int?
    var tally = RowTally()
    var found: [ConflictRecord] = []
    /// The new conflicts about rows that their user may have lost.
    var lost: [ConflictID] = []
    /// The new conflicts in tables with `"late": "accept"`. Afterwards `LateWork` decides whether it accepts their
    /// changes.
    var maybeLate: [ConflictID] = []
    var taken = 0
    var conflicts = 0
    /// The number of changes that were not accepted as sent.
    var refused = 0

    /// The results before changes that may be undone. Long lists are not copied, because they only grow.
    struct Mark {
      fileprivate let rest: Progress
      fileprivate let lost: Int
      fileprivate let maybeLate: Int
    }

    /// Returns what `undo(to:)` needs.
    func begin() -> Mark {
      var rest = self
      (rest.lost, rest.maybeLate) = ([], [])
      return Mark(rest: rest, lost: lost.count, maybeLate: maybeLate.count)
    }

    mutating func undo(to mark: Mark) {
      var (lost, maybeLate): ([ConflictID], [ConflictID]) = ([], [])
      swap(&lost, &self.lost)
      swap(&maybeLate, &self.maybeLate)
      self = mark.rest
      lost.removeLast(lost.count - mark.lost)
      maybeLate.removeLast(maybeLate.count - mark.maybeLate)
      (self.lost, self.maybeLate) = (lost, maybeLate)
    }
  }
}
