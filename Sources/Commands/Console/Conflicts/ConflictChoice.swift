import SatchelConflicts
import SatchelPlatform
import SatchelValues

/// The values that a person chose for the columns of a conflict. Columns are named by their index, because a column
/// name may contain anything.
struct ConflictChoice {
  let fields: [EnteredField]

  /// - Throws: a `UsageError` if nothing was chosen, or if a value was typed beside another choice. A
  ///   `WorkspaceError` if the chosen value of a counter or a set is unknown, or has an unknown start.
  init(_ request: WebRequest, _ conflict: StoredConflict, _ columns: [Name]) throws {
    let record = conflict.record
    fields = try columns.enumerated().compactMap { place, name -> EnteredField? in
      func value(_ fields: [Field]?) -> EnteredField? {
        fields?.first { $0.name == name }.map { EnteredField(name, .known($0.value)) }
      }
      let typed = request.value("own\(place)") ?? ""
      // The value is never a file name here: a page in a browser must not read files of this machine.
      let own = EnteredField(name, .words(typed, file: nil))
      let pick = request.value("pick\(place)")
      if !typed.isEmpty, let pick, pick != "own" {
        throw UsageError(
          """
          for the column \(name) a value was chosen, and "\(Words.short(typed))" was typed too: choose one of them, or \
          empty the field
          """)
      }
      switch pick {
      case "base":
        try conflict.checkBefore(name)
        return value(record.baseValues)
      case "hub": return value(record.hubValues)
      case "device":
        try conflict.checkDevice(name)
        return value(record.deviceValues)
      case "null": return EnteredField(name, .known(.null))
      case "own": return own
      case nil: return typed.isEmpty ? nil : own
      default: return nil
      }
    }
    if fields.isEmpty {
      throw UsageError("nothing was chosen: choose a value for at least one column, or keep one side as a whole")
    }
  }
}
