import SatchelDevice
import SatchelJSON
import SatchelPlatform

/// Words about the changes of a device's former user.
extension SealedChanges {
  var words: String {
    let what = changes == 0 ? "Work" : Words.count(changes, "change")
    return "\(what) of \(user) \(changes > 1 ? "are" : "is") in \(Paths.name(of: file)), and in no later export"
  }

  var json: JSONValue {
    ["user": .string(user), "file": .string(file), "changes": .integer(Int64(changes))]
  }
}
