import SatchelCrypto
import SatchelValues

/// What a bundle is, from whom, for whom, and on what it builds.
public struct Manifest: Hashable, Sendable {
  /// The newest format that this Satchel writes and reads.
  public static let format: Int64 = 1

  /// One end of a bundle's way.
  public struct Party: Hashable, Sendable {
    public let id: ReplicaID
    public let name: String

    public init(id: ReplicaID, name: String) {
      self.id = id
      self.name = name
    }

    /// Whom a device asks to let it in: it does not know its hub yet.
    public static let unknownHub = Party(id: ReplicaID(random: [UInt8](repeating: 0, count: 16)), name: "hub")
  }

  /// An entry that follows the manifest, with its size in bytes.
  public struct Entry: Hashable, Sendable {
    public let name: EntryName
    public let bytes: Int64
  }

  /// What a reader must understand to read the bundle at all, beside format 1 as it began.
  public enum Critical: String, Sendable, CaseIterable {
    /// Lines that tell of keys: `rekey` and `block`.
    case keys
    /// A request of a device that was another one before: what that delivered is not to be taken once more.
    case continues
    /// What is said of attached files, and their contents.
    case attachments
    /// Digests of the rows that a device holds.
    case state
    /// Lines that tell what a device must have before it takes them, and conflicts of the kind `unseen`.
    case unseen
    /// Rows of some tables are named by other columns than their PRIMARY KEY.
    case names
    /// Lines and conflicts that belong to units: a reader takes all of a unit or nothing.
    case units

    /// Features as one text, as the tables of hubs and devices hold them.
    public static func text(of features: Set<Critical>) -> String {
      features.map(\.rawValue).sorted().joined(separator: " ")
    }

    /// The features that a text names, as far as they are known here.
    public static func features(in text: String) -> Set<Critical> {
      Set(text.split(separator: " ").compactMap { Critical(rawValue: String($0)) })
    }
  }

  public enum Body: Hashable, Sendable {
    case changes(Changes)
    case scope(Scope)
    case enrolment(Enrolment)
    case volume(Volume)
    case backup(Backup)
  }

  /// The keys that a sender will use from some later bundle on.
  public struct Rotation: Hashable, Sendable {
    public let key: PublicKey
    public let recipient: AgeRecipient
    /// The key's own signature of the announcement; nil: the bundle was made by a version that did not sign it.
    public let proof: Signature?

    public init(key: PublicKey, recipient: AgeRecipient, proof: Signature?) {
      self.key = key
      self.recipient = recipient
      self.proof = proof
    }
  }

  /// Keys that nothing may be signed with any more; the list with the highest number counts.
  public struct Revocations: Hashable, Sendable {
    public let number: Int64
    public let keys: [PublicKey]

    public init(number: Int64, keys: [PublicKey]) {
      self.number = number
      self.keys = keys
    }
  }

  /// One piece of another bundle's file.
  public struct Volume: Hashable, Sendable {
    public static let most: Int64 = 9_999

    /// The bundle that was cut.
    public let of: BundleID
    public let whole: BundleKind
    /// Its sequence or number.
    public let number: Int64
    /// From 1 to `parts`.
    public let part: Int64
    public let parts: Int64
    /// The size of the whole file.
    public let bytes: Int64
    /// Of the whole file.
    public let digest: Digest

    public init(of: BundleID, whole: BundleKind, number: Int64, part: Int64, parts: Int64, bytes: Int64, digest: Digest)
    {
      self.of = of
      self.whole = whole
      self.number = number
      self.part = part
      self.parts = parts
      self.bytes = bytes
      self.digest = digest
    }
  }

  /// What a device tells about its export.
  public struct Changes: Hashable, Sendable {
    public let epoch: Epoch
    public let incarnation: Incarnation
    /// The emission on which the device stood.
    public let received: EmissionNumber
    public let sequence: SequenceNumber
    /// The device's exports before this one, in their order, from the last acknowledged one on; at most the newest
    /// `longestChain`.
    public let chain: [Link]
    /// Attached files that the hub is known to have, that the device's rows name, and that are not there any more: it
    /// asks for them. In their order, each once, at most as many as a bundle carries.
    public let lost: [AttachmentPath]
    /// The export after which all changes of this one were made: it holds everything since. Exports between that one
    /// and this one may be left out. nil: the bundle was made by a version that did not say it; then it is the first
    /// export of the chain.
    public var base: SequenceNumber?
    /// The emission `received`, with the hub's signature of it; nil: the bundle was made by a version that did not name
    /// it.
    public var proof: EmissionProof?
    /// Emissions of earlier histories that the device has and the hub is not known to have: their files come beside
    /// this bundle.
    public var brings: [Digest] = []
    /// The digest of the export of the device's former name that this one is, signed once more under the present one;
    /// nil: it is none. By this digest other exports name it in their chains.
    public var original: Digest?
    /// Columns to which an app on the device gave another name than they have at the hub.
    public var renamed: [RenamedColumn] = []

    public static let longestChain = 256

    /// An earlier export of the device.
    public struct Link: Hashable, Sendable {
      public let sequence: SequenceNumber
      /// Of its B2SUMS.
      public let digest: Digest

      public init(sequence: SequenceNumber, digest: Digest) {
        self.sequence = sequence
        self.digest = digest
      }
    }

    public init(
      epoch: Epoch, incarnation: Incarnation, received: EmissionNumber, sequence: SequenceNumber, chain: [Link],
      lost: [AttachmentPath] = []
    ) {
      self.epoch = epoch
      self.incarnation = incarnation
      self.received = received
      self.sequence = sequence
      self.chain = chain
      self.lost = lost
    }

    /// Whether nothing is missing between `merged`, the last export that a hub has, and this one: it is the next, or it
    /// says itself that it goes back as far. It holds all changes since the first export of its chain, and it may be
    /// that one's own that are not among them.
    public func reaches(back merged: SequenceNumber) -> Bool {
      if let base { return base <= merged }
      return sequence <= merged.next || chain.first.map { $0.sequence <= merged } ?? false
    }
  }

  /// What the hub tells about an emission.
  public struct Scope: Hashable, Sendable {
    public enum Extent: String, Sendable, CaseIterable { case full, delta }

    public let epoch: Epoch
    public let number: EmissionNumber
    /// The emission on which it builds; 0 for a full one.
    public let after: EmissionNumber
    public let extent: Extent
    /// The device's highest merged sequence.
    public let acknowledged: SequenceNumber
    /// Of that export's B2SUMS, by which the device can tell that it was its own and not a copy's; nil: the hub does
    /// not say.
    public let acknowledgedDigest: Digest?
    /// The emissions on which the device may be when it imports this one, in their order; on any other it refuses it.
    /// nil: the bundle was made by a version that did not name them.
    public var follows: [EmissionLink]?
    /// The hub's epochs before this one, in the order of their text; nil: the bundle was made by a version that did not
    /// name them.
    public var former: [Epoch]?
    /// Emissions of earlier histories whose files have come to the hub.
    public var collected: [Digest] = []
    /// The sums of which the hub wants the rows one by one, in the device's next bundle.
    public var compare: [StateEntry.Question] = []

    public init(
      epoch: Epoch, number: EmissionNumber, after: EmissionNumber, extent: Extent, acknowledged: SequenceNumber,
      acknowledgedDigest: Digest? = nil
    ) {
      self.epoch = epoch
      self.number = number
      self.after = after
      self.extent = extent
      self.acknowledged = acknowledged
      self.acknowledgedDigest = acknowledgedDigest
    }
  }

  /// What a hub was when it was copied whole.
  public struct Backup: Hashable, Sendable {
    public let epoch: Epoch
    /// How many changes it had committed.
    public let cursor: Cursor

    public init(epoch: Epoch, cursor: Cursor) {
      self.epoch = epoch
      self.cursor = cursor
    }
  }

  /// What a new device asks for.
  public struct Enrolment: Hashable, Sendable {
    public let incarnation: Incarnation
    /// The key that signs this request and everything that the device will send.
    public let key: PublicKey
    /// The device that this one was before; nil: it is a new one.
    public let continues: Continuation?

    public init(incarnation: Incarnation, key: PublicKey, continues: Continuation? = nil) {
      self.incarnation = incarnation
      self.key = key
      self.continues = continues
    }
  }

  public let bundle: BundleID
  public let dataset: String
  /// The version of the dataset's definition by which the bundle was made.
  public let version: Int64
  public private(set) var from: Party
  public let to: Party
  /// The user for whom the device works.
  public let user: String
  /// The time of its making by the sender's clock, for people: `2026-01-31T08:05:09Z`.
  public let created: String
  public let stamp: Stamp
  /// How many lines there are, by entry; empty entries are left out of the bundle.
  public let changes: Int64
  public let conflicts: Int64
  public let resolutions: Int64
  /// How many lines tell of attached files, and how many of these are in the bundle. Filled in when the bundle is
  /// sealed, by what was put in.
  public internal(set) var attachments: Int64 = 0
  public internal(set) var blobs: Int64 = 0
  /// The same.
  public internal(set) var critical: [Critical] = []
  /// The critical features that the sender can read: only these may be in bundles for it. Empty: the sender does not
  /// say.
  public var understands: Set<Critical> = []
  /// For whom what is for the sender may be encrypted; nil: it does not say.
  public var recipient: AgeRecipient?
  public var rotation: Rotation?
  public var revoked: Revocations?
  public let body: Body

  public init(
    bundle: BundleID, dataset: String, version: Int64, from: Party, to: Party, user: String, created: String,
    stamp: Stamp,
    changes: Int64 = 0, conflicts: Int64 = 0, resolutions: Int64 = 0, body: Body
  ) {
    self.bundle = bundle
    self.dataset = dataset
    self.version = version
    self.from = from
    self.to = to
    self.user = user
    self.created = created
    self.stamp = stamp
    self.changes = changes
    self.conflicts = conflicts
    self.resolutions = resolutions
    self.body = body
  }

  /// The same with another name for the sender: each side knows its devices by names of its own.
  public func from(_ name: String) -> Manifest {
    var manifest = self
    manifest.from = Party(id: from.id, name: name)
    return manifest
  }

  public var kind: BundleKind {
    switch body {
    case .changes: .changes
    case .scope: .scope
    case .enrolment: .enrolment
    case .volume: .volume
    case .backup: .backup
    }
  }

  /// The number in the signature's comment: a sequence, an emission's number, a volume's, a backup's count of changes,
  /// 0 for a request.
  public var number: Int64 {
    switch body {
    case .changes(let changes): changes.sequence.rawValue
    case .scope(let scope): scope.number.rawValue
    case .enrolment: 0
    case .volume(let volume): volume.part
    case .backup(let backup): backup.cursor.rawValue
    }
  }

  /// Whether it says anything but that its sender has heard of the other side: only what does needs an answer.
  public var saysAnything: Bool {
    if changes + conflicts + resolutions + blobs > 0 || rotation != nil { return true }
    return switch body {
    case .scope(let scope): scope.extent == .full
    case .changes(let changes): !changes.lost.isEmpty
    default: false
    }
  }

  /// The number of the bundle that this is, or is a piece of.
  public var wholeNumber: Int64 {
    if case .volume(let volume) = body { return volume.number }
    return number
  }

  /// The name of the bundle's file, safe on FAT and exFAT.
  public var fileName: String {
    guard case .volume(let volume) = body else { return wholeFileName }
    let (part, parts) = (String(volume.part), String(volume.parts))
    let zeros = String(repeating: "0", count: parts.utf8.count - part.utf8.count)
    return "\(stem)-\(zeros)\(part)of\(parts).satchel"
  }

  /// The name of the file of the bundle that this is, or is a piece of.
  public var wholeFileName: String { "\(stem).satchel" }

  private var stem: String { "\(Self.namePrefix(dataset: dataset, from: from.name, to: to.name))\(wholeNumber)" }

  /// What the names of all bundles from one replica to another begin with; their numbers follow.
  public static func namePrefix(dataset: String, from: String, to: String) -> String { "\(dataset)-\(from)-\(to)-" }
}

public enum BundleKind: String, Sendable, CaseIterable {
  case changes, scope, enrolment, volume, backup

  /// What a person calls such a file, as it follows "This is ".
  public var words: String {
    switch self {
    case .changes: "a device's export"
    case .scope: "a hub's bundle for a device"
    case .enrolment: "a device's request for enrolment"
    case .volume: "a piece of a bundle"
    case .backup: "a hub's backup"
    }
  }
}
