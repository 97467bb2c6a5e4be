import SatchelConflicts
import SatchelRows
import SatchelValues

extension StepMerger {
  /// The results of the merge so far, except for the changes in the database and for long lists.
  struct Progress {
    var holdsAny: Bool?
    /// The size of the device's changes that wait. nil: the changes are not counted yet.
    var waiting: ConflictSize?
    var tally = RowTally()
    var found: [ConflictRecord] = []
    var taken = 0
    var conflicts = 0
    /// The number of changes that were not accepted as sent.
    var refused = 0
  }
}
