/// An id of sixteen random bytes, in the usual text form of a UUID (RFC 9562, version 4) in lower case.
public protocol Identifier: Hashable, Sendable, CustomStringConvertible {
  var text: String { get }
  init(unchecked text: String)
}

extension Identifier {
  /// Accepts only the canonical lower-case form, so that an id has one spelling.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return nil }
    for (i, byte) in bytes.enumerated() {
      let hyphen = i == 8 || i == 13 || i == 18 || i == 23
      guard hyphen ? byte == 45 : (48...57).contains(byte) || (97...102).contains(byte) else { return nil }
    }
    self.init(unchecked: text)
  }

  /// Makes a version 4 id from sixteen random bytes.
  public init(random bytes: [UInt8]) {
    precondition(bytes.count == 16)
    var b = bytes
    b[6] = b[6] & 0x0f | 0x40
    b[8] = b[8] & 0x3f | 0x80
    self.init(
      unchecked: [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hexadecimal.text(of: b[$0]) }.joined(separator: "-"))
  }

  public var description: String { text }
}

/// The id of one replica of a dataset: a device, or the hub.
public struct ReplicaID: Identifier {
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// The id of one bundle. No two bundles have the same id.
public struct BundleID: Identifier {
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// The id of one unbroken history of a hub. A hub that is restored from a backup begins a new epoch.
public struct Epoch: Identifier {
  public let text: String
  public init(unchecked text: String) { self.text = text }
}

/// The id of a device's folder between two changes of identity. It is new when the folder is created, and when the
/// device gets a new identity.
public struct Incarnation: Identifier {
  public let text: String
  public init(unchecked text: String) { self.text = text }
}
