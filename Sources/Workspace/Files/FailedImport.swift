import SatchelBundle
import SatchelJSON
import SatchelValues

/// A failed import of a bundle whose file is sound.
public struct FailedImport: Sendable {
  /// The ids of the bundle, of its sender and of its receiver.
  public struct Origin: Hashable, Sendable {
    public let sender: ReplicaID
    public let senderName: String
    /// The id of this replica when the bundle came. A device that continues under a new name has another id, and
    /// receives bundles with other numbers.
    let receiver: ReplicaID
    let kind: BundleKind
    let bundle: BundleID
    /// The number that the sender gave the bundle. For a volume: the number of the whole bundle.
    public let number: Int64
  }

  /// The name of the bundle's file.
  public let file: String
  /// nil if the manifest could not be read, or if an earlier release of Satchel recorded the failure.
  public let origin: Origin?
  /// nil if an earlier release of Satchel recorded the failure.
  public let code: Reason?
  public let message: String
  public let hint: String?
  /// Milliseconds since 1970.
  public let at: Int64

  /// The text that `status` shows.
  public var words: String { ["\(file): \(message)", hint].compactMap(\.self).joined(separator: " ") }

  /// Whether this failure needs no attention any more, because the bundle or a newer bundle from its sender was
  /// taken.
  /// - Parameters:
  ///   - other: the origin of the bundle that came now.
  ///   - verdict: the verdict on that bundle.
  func isMadeUpFor(by other: Origin, _ verdict: Verdict) -> Bool {
    let isTaken = [.imported, .collected, .unused].contains(verdict)
    guard let origin else { return isTaken }
    guard origin.sender == other.sender, origin.kind == other.kind else { return false }
    if origin.bundle == other.bundle { return verdict.isTaken && verdict != .part }
    return isTaken && other.number >= origin.number
  }
}

extension FailedImport.Origin {
  /// - Parameter own: the id of the replica that received the bundle.
  init(_ manifest: Manifest, at own: ReplicaID) {
    // If a device brings back a bundle that the hub made, the device counts as the sender.
    let other = manifest.from.id == own ? manifest.to : manifest.from
    (sender, senderName, receiver) = (other.id, other.name, own)
    if case .volume(let volume) = manifest.body {
      (kind, bundle, number) = (volume.whole, volume.of, volume.number)
    } else {
      (kind, bundle, number) = (manifest.kind, manifest.bundle, manifest.number)
    }
  }
}

// MARK: as JSON

extension FailedImport {
  init?(_ json: JSONValue) {
    guard let file = json["file"]?.stringValue, let message = json["message"]?.stringValue,
      case .integer(let at)? = json["at"]
    else { return nil }
    let origin = json["origin"].flatMap { Origin($0) }
    let code = json["reason"]?.stringValue.flatMap { Reason(rawValue: $0) }
    self.init(file: file, origin: origin, code: code, message: message, hint: json["hint"]?.stringValue, at: at)
  }

  var json: JSONValue {
    [
      "file": .string(file), "reason": code.map { .string($0.rawValue) } ?? .null, "message": .string(message),
      "hint": hint.map { .string($0) } ?? .null, "at": .integer(at), "origin": origin?.json ?? .null,
    ]
  }
}

extension FailedImport.Origin {
  fileprivate init?(_ json: JSONValue) {
    func text(_ name: String) -> String? { json[name]?.stringValue }
    guard let sender = text("sender").flatMap({ ReplicaID($0) }), let senderName = text("sender_name"),
      let receiver = text("receiver").flatMap({ ReplicaID($0) }),
      let kind = text("kind").flatMap({ BundleKind(rawValue: $0) }),
      let bundle = text("bundle").flatMap({ BundleID($0) }), case .integer(let number)? = json["number"]
    else { return nil }
    self.init(
      sender: sender, senderName: senderName, receiver: receiver, kind: kind, bundle: bundle, number: number)
  }

  fileprivate var json: JSONValue {
    [
      "sender": .string(sender.text), "sender_name": .string(senderName), "receiver": .string(receiver.text),
      "kind": .string(kind.rawValue), "bundle": .string(bundle.text), "number": .integer(number),
    ]
  }
}
