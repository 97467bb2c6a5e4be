import SatchelDevice
import SatchelJSON
import SatchelPlatform

/// Words about the changes of a device's former user.
extension SealedChanges {
  var words: String {
    """
    \(Words.count(changes, "change")) of \(user) \(changes == 1 ? "is" : "are") in \(Paths.name(of: file)), and in no \
    later export
    """
  }

  var json: JSONValue {
    ["user": .string(user), "file": .string(file), "changes": .integer(Int64(changes))]
  }
}
