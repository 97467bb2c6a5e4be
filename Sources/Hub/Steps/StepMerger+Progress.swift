import SatchelConflicts
import SatchelRows
import SatchelValues

extension StepMerger {
  /// The results of the merge so far. Changes in the database and long lists are not included.
  struct Progress {
    var holdsAny: Bool?
    /// The size of the device's waiting changes. nil until they are counted.
    var waiting: ConflictSize?
    var tally = RowTally()
    var found: [ConflictRecord] = []
    var taken = 0
    var conflicts = 0
    /// The number of changes that were not accepted as sent.
    var refused = 0
  }
}
