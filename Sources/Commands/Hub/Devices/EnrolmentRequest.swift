import SatchelBundle
import SatchelCrypto
import SatchelHub
import SatchelValues
import SatchelWorkspace

/// A device's request to join, with the steps of its enrolment. The command and the console use the same steps.
struct EnrolmentRequest {
  private var hub: HubWorkspace
  private let manifest: Manifest
  private let enrolment: Manifest.Enrolment
  private let claim: ContinuationClaim?
  /// The fingerprint of the request's key. No page and no message shows it before a person has typed it.
  let fingerprint: String

  /// The name by which the device calls itself.
  var name: String { manifest.from.name }

  /// The name of the former device that the request names without a proof. nil if it names none, or proves it.
  var unprovedDevice: String? { claim.flatMap { $0.isProved ? nil : $0.device } }

  /// Reads and checks a request file.
  init(at path: String, _ hub: HubWorkspace) throws {
    let request = try hub.readRequest(path)
    self.hub = hub
    manifest = request.manifest
    enrolment = request.enrolment
    fingerprint = request.fingerprint
    claim = try hub.claim(of: manifest, enrolment)
  }

  /// The same request at the same hub, which was opened in another way, such as for a dry run.
  func at(_ hub: HubWorkspace) -> EnrolmentRequest {
    var request = self
    request.hub = hub
    return request
  }

  /// Says which device the request continues. nil if it continues none.
  var claimWords: String? {
    guard let claim else { return nil }
    guard let device = claim.device, let user = claim.user else {
      return "The device says that it was another device before, but this hub does not know that device."
    }
    let state = claim.isRevoked ? ", which was revoked" : ""
    let proof =
      claim.isProved
      ? "A key of \(device) signed that." : "No present key of \(device) signed that: any device could claim it."
    return "The device says that it was \(device) of the user \(user)\(state), and continues its work. \(proof)"
  }

  /// Throws a `Refusal` if the request names a former device without a proof, and no person vouches for it.
  /// - Parameter named: the former device for which a person vouches; nil: none.
  func checkClaim(trusting named: String?) throws {
    guard let device = unprovedDevice, named != device else { return }
    throw ContinuationClaim.unproved(device)
  }

  /// Throws unless the typed text, read from the device, is the fingerprint of the key in the request.
  func compare(typed: String?) throws {
    guard let typed else {
      throw WorkspaceError(
        .fingerprintNeeded,
        "Give the fingerprint that the device shows: it proves that the request comes from this device.",
        hint: "Let the device's user read it out, then add: --fingerprint WORDS")
    }
    guard let normal = PublicKey.normalisedFingerprint(typed) else {
      throw WorkspaceError(
        .fingerprintMistyped, "The typed words are not a fingerprint: the last group does not fit the others.",
        hint: "Ask the person at the device to read it out again.")
    }
    guard normal == fingerprint else {
      throw Refusal(
        .otherFingerprint, "The request was made by another key than the device's: the fingerprints differ.",
        hint: "Do not enrol it. Ask for a new request.")
    }
  }

  /// Enrols the device. Call `compare` first.
  /// - Parameters:
  ///   - name: the device's name at the hub. nil: the name by which the device calls itself.
  ///   - former: the former device for which a person vouches; nil: none.
  func enrol(as name: String?, user: String, trusting former: String?) throws -> EnrolledDevice {
    try hub.enrol(
      manifest.from.id, name: name ?? self.name, user: user, key: enrolment.key, recipient: manifest.recipient,
      incarnation: enrolment.incarnation, asked: self.name, continuing: enrolment.continues,
      trusting: former.map { .named($0) } ?? .proof)
  }

  /// Enrols the device, and makes its first bundle.
  func welcome(
    as name: String?, user: String, trusting former: String?
  ) throws -> (device: EnrolledDevice, bundle: EmitReport) {
    let device = try enrol(as: name, user: user, trusting: former)
    do { return (device, try hub.emit(to: device.name)) } catch {
      // If the device stayed enrolled without a bundle, the next attempt would be refused.
      try hub.withdraw(device)
      throw error
    }
  }
}
