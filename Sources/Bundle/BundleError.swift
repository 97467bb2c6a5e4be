import SatchelCrypto
import SatchelValues

/// The reason why a bundle was refused, or could not be written. No part of a refused bundle is used.
public enum BundleError: ExplainedError, Equatable {
  /// The file is no tar archive, or is not compressed as a bundle is.
  case notABundle(String)
  case truncated
  case trailingData
  /// An entry is unknown, out of order, repeated, or not a plain file.
  case entry(String, String)
  case tooLarge(String, limit: Int64)
  /// The bundle is signed with a key that this replica does not trust.
  case unknownKey(String)
  case badSignature(String)
  case digest(String)
  /// The signature is right, but the content breaks the rules of the format.
  case manifest(String)
  case line(entry: String, number: Int, String)
  case newerFormat(String)
  case archive(String)
  /// The file is encrypted for another recipient or in another way. Or a file could not be encrypted.
  case encryption(AgeError)
  /// The bundle would have too many volumes. `least` is the smallest size of a volume that would work.
  case tooManyVolumes(Int64, most: Int64, least: Int64)
  /// A row is larger than any reader accepts, so it is not written.
  case rowTooLarge(String, limit: Int)

  public var code: Reason {
    switch self {
    case .notABundle: .notABundle
    case .truncated: .truncated
    case .trailingData: .trailingData
    case .entry: .badEntry
    case .tooLarge: .tooLarge
    case .unknownKey: .unknownKey
    case .badSignature: .badSignature
    case .digest: .badDigest
    case .manifest: .badManifest
    case .line: .badLine
    case .newerFormat: .newerFormat
    case .archive: .archive
    case .encryption(let error): error.code
    case .tooManyVolumes: .tooManyVolumes
    case .rowTooLarge: .rowTooLarge
    }
  }

  public var message: String {
    switch self {
    case .notABundle(let why): "This is not a Satchel bundle, or it was damaged on the way: \(why)."
    case .truncated: "The file ends too early: part of it was not copied."
    case .trailingData: "There is more data after the end of the bundle."
    case .entry(let name, let why): "The entry \(name) \(why)."
    case .tooLarge(let what, let limit): "\(what) is larger than the limit of \(limit) bytes."
    case .unknownKey(let id): "It is signed with key \(id), which is not trusted here."
    case .badSignature(let why): "The signature does not fit: \(why)."
    case .digest(let name): "The entry \(name) is not what was signed: its digest differs."
    case .manifest(let why): "The manifest breaks the format's rules: \(why)."
    case .line(let entry, let number, let why): "Line \(number) of \(entry) breaks the format's rules: \(why)."
    case .newerFormat(let what): "This bundle was made by a newer Satchel: \(what)."
    case .encryption(let error): "The file is encrypted, and cannot be opened here: \(error.message)."
    case .archive(let why): "Writing the bundle failed: \(why)."
    case .tooManyVolumes(let count, let most, _):
      """
      That would make \(count) volumes; at most \(most) are \
      possible\(most == Manifest.Volume.mostWithParity ? " with parity volumes" : "").
      """
    case .rowTooLarge(let row, let limit):
      "The change of \(row) is larger than \(limit) bytes, the limit for one row in a bundle."
    }
  }

  public var hint: String? {
    switch self {
    case .truncated, .digest, .notABundle:
      "Copy the file again from its sender, who still has it in bundles/sent or bundles/outbox."
    case .encryption(.noMatch):
      "Is it for this replica? If it is, the sender knows only an older key: ask for a new bundle."
    case .encryption:
      "Copy the file again from its sender, who still has it in bundles/sent or bundles/outbox."
    case .unknownKey:
      """
      If you know the sender, it must be enrolled first: satchel keys request FILE there, satchel-hub device enrol \
      FILE here. \
      Otherwise leave the file alone.
      """
    case .badSignature: "Do not use this file. Ask its sender for a new one."
    case .newerFormat: "Install the newer version here, then import the file again."
    case .tooManyVolumes(_, _, let least): "Give --volume-size \((least >> 10) + 1)K or more."
    case .rowTooLarge: "Make its values smaller, or move them into files. Until then no other change is carried either."
    default: nil
    }
  }
}
