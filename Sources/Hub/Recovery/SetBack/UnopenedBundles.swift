import SatchelBundle
import SatchelCrypto
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The file `bundles/unopened.json`. It lists the devices in whose folders on sticks the hub found files that none of
/// its keys opens.
///
/// An encrypted file shows no sender, so anyone could put it there. The list only makes a line in `status`, and has
/// each device at most once. When the hub has a new newest key, the list becomes empty, because this key may open the
/// files. The next stick with a file that cannot be opened starts the list again.
struct UnopenedBundles {
  private let hub: HubWorkspace
  private var files: any FileSystem { hub.platform.files }
  private var path: String { hub.folder.path("bundles/unopened.json") }

  private static let most = 1_000

  init(of hub: HubWorkspace) { self.hub = hub }

  func devices() throws -> [ReplicaID] {
    guard let document = try hub.folder.document(at: path, files, mostBytes: 1 << 20),
      try document["key"]?.stringValue == newestKey()
    else { return [] }
    return (document["devices"]?.arrayValue ?? []).compactMap { $0.stringValue.flatMap { ReplicaID($0) } }
  }

  func note(_ device: ReplicaID) throws {
    let known = try devices()
    if !known.contains(device) { try store([device] + known) }
  }

  func forget(_ device: ReplicaID) throws {
    let known = try devices()
    if known.contains(device) { try store(known.filter { $0 != device }) }
  }

  private func store(_ devices: [ReplicaID]) throws {
    if devices.isEmpty { return try files.removeIfThere(path) }
    let document: JSONValue = [
      "key": .string(try newestKey()), "devices": .array(devices.prefix(Self.most).map { .string($0.text) }),
    ]
    try files.replace(path, mode: 0o644, contents: document.prettyBytes)
  }

  private func newestKey() throws -> String { try (hub.keys.nextKey() ?? hub.keys.ownKey()).line }
}

extension HubWorkspace {
  var unopened: UnopenedBundles { UnopenedBundles(of: self) }

  /// Returns the active devices in this list. Leaves out a device that may trust a key of this hub that this hub does
  /// not know, after the hub replaced a lost key.
  func devicesWithUnopened(_ store: HubStore) throws -> [EnrolledDevice] {
    try unopened.devices().compactMap { id -> EnrolledDevice? in
      guard let device = try store.device(id), device.state == .active, try !store.mayFollowUnknownKey(device) else {
        return nil
      }
      return device
    }
  }

  /// Returns a finding for each device in whose folder the hub found files that none of its keys opens.
  func unopenedFindings(_ store: HubStore) throws -> [Finding] {
    try devicesWithUnopened(store).map { device in
      Finding(
        .ageNotForUs, "Files came in the name of \(device.name), and no key of this hub opens them.",
        hint: "\(HubStatus.wayOutOfOlderKeys). \(OlderKeys.wayOutWithNewestKeys)")
    }
  }

  /// Judges a file on a stick that no key here opens. Records that the file's device may trust a newer key of this hub.
  ///
  /// If this hub replaced its key as lost, it cannot open its own bundles from before, and needs none of them. So the
  /// hub records as arrived all lost emissions that the device's signed export names. The device then stops bringing
  /// them.
  /// - Parameter sender: the device in whose folder the file is.
  public func judge(unopened path: String, of sender: ClaimedSender) throws -> UnopenedFile {
    try locked {
      let store = try store()
      let file = Paths.name(of: path)
      let whole = BundleName.whole(ofVolume: file) ?? file
      func bundle(from: String, to: String) -> Int64? {
        BundleArchive.number(in: whole, Manifest.namePrefix(dataset: configuration.dataset, from: from, to: to))
      }
      guard let device = try store.devices().first(where: { $0.state == .active && sender.mayBe($0.id) }) else {
        return .unneeded
      }
      let isAwaited: Bool
      if let number = bundle(from: sender.name, to: configuration.name) {
        isAwaited = SequenceNumber(number) > device.merged
      } else if bundle(from: configuration.name, to: sender.name) != nil {
        isAwaited = try store.isAnyAwaited(from: device.id)
        if try store.isEpochOfReplacedKey() {
          if isAwaited {
            try store.writeTransaction(runMode) {
              try store.noteArrivalOfAwaited(from: device.id, at: platform.clock.milliseconds())
            }
          }
          return .ofReplacedKey
        }
      } else {
        isAwaited = false
      }
      guard isAwaited, try !store.mayFollowUnknownKey(device) else { return .unneeded }
      if runMode == .commit { try unopened.note(device.id) }
      return .mayBeForNewerKey(
        Refusal(
          .ageNotForUs,
          """
          It is in a folder of \(device.name), and no key here opens it. It may be encrypted for a key of this hub \
          that is not here.
          """, hint: "\(Self.wayOutOfOlderKeys). \(OlderKeys.wayOutWithNewestKeys)", keeping: .unnoted))
    }
  }
}
