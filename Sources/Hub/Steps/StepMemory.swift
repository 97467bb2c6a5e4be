import SatchelValues
import SatchelWorkspace

/// Limits the memory of the changes of one bundle that must stay in memory, because they wait for other changes or
/// because all new rows must be known first.
///
/// All other changes are merged as they are read. But a device may let each of its changes wait, and fill them with
/// bytes that compress to very little.
struct StepMemory {
  /// The approximate memory of a step besides its values, in bytes.
  private static let ofEachStep = 128
  static let usual = 1 << 30

  /// The limit, in bytes.
  let most: Int
  /// The bytes that were added since the present changes were counted last.
  private var uncounted = 0

  init(most: Int) { self.most = most }

  /// The approximate memory of a step, in bytes.
  static func bytes(of step: Step) -> Int { step.byteCount + ofEachStep }

  /// Adds a step. Throws a `Refusal` if the steps need too much memory.
  /// - Parameter present: the bytes of all steps that are in memory now. It takes time, so it is called only after
  ///   many new bytes.
  mutating func add(_ step: Step, present: () -> Int) throws {
    uncounted += Self.bytes(of: step)
    if uncounted <= most / 16 { return }
    uncounted = 0
    if present() <= most { return }
    throw Refusal(
      .tooLarge,
      """
      Changes of the bundle wait for other changes, and need more than \(most >> 20) MiB of memory together. The last \
      one is of the table \(step.table).
      """,
      hint:
        """
        Ask the device's user for the reason. If there is none, another person may have its key: satchel-hub device \
        revoke NAME
        """,
      keeping: .quarantine)
  }
}
