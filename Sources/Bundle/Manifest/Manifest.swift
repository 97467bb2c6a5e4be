import SatchelCrypto
import SatchelValues

/// A bundle's kind, sender, recipient, and the bundles on which it builds.
public struct Manifest: Hashable, Sendable {
  /// The newest format that this Satchel writes and reads.
  public static let format: Int64 = 1

  /// The sender or the recipient of a bundle.
  public struct Party: Hashable, Sendable {
    public let id: ReplicaID
    public let name: String

    public init(id: ReplicaID, name: String) {
      self.id = id
      self.name = name
    }

    /// The recipient of an enrolment request: the device does not know its hub yet.
    public static let unknownHub = Party(id: ReplicaID(random: [UInt8](repeating: 0, count: 16)), name: "hub")
  }

  /// An entry that follows the manifest, with its size in bytes.
  public struct Entry: Hashable, Sendable {
    public let name: EntryName
    public let bytes: Int64
  }

  /// Features that a reader must support to read the bundle, in addition to the first version of format 1.
  public enum Critical: String, Sendable, CaseIterable {
    /// Lines about keys: `rekey` and `block`.
    case keys
    /// A request of a device that had another identity: its delivered changes must not be merged again.
    case continues
    /// Lines about attached files, and their contents.
    case attachments
    /// Digests of the rows that a device holds.
    case state
    /// Lines with the versions of a row that the device may have, and conflicts of the kind `unseen`.
    case unseen
    /// Rows of some tables are identified by other columns than their PRIMARY KEY.
    case names
    /// Lines and conflicts that belong to units: a reader applies all of a unit or nothing.
    case units
    /// A parity volume: its piece is computed from the pieces of the other volumes.
    case parity

    /// A set of features as one text, in the form in which the tables of hubs and devices store it.
    public static func text(of features: Set<Critical>) -> String {
      features.map(\.rawValue).sorted().joined(separator: " ")
    }

    /// The features in a text. Features that this version does not know are left out.
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
    /// The announcement's signature by `key`; nil: the bundle was made by a version that did not sign it.
    public let proof: Signature?

    public init(key: PublicKey, recipient: AgeRecipient, proof: Signature?) {
      self.key = key
      self.recipient = recipient
      self.proof = proof
    }
  }

  /// A list of revoked keys. Only the list with the highest number is valid.
  public struct Revocations: Hashable, Sendable {
    public let number: Int64
    public let keys: [PublicKey]

    public init(number: Int64, keys: [PublicKey]) {
      self.number = number
      self.keys = keys
    }
  }

  /// A device's data about its export.
  public struct Changes: Hashable, Sendable {
    public let epoch: Epoch
    public let incarnation: Incarnation
    /// The emission that the device's database held.
    public let received: EmissionNumber
    public let sequence: SequenceNumber
    /// The device's earlier exports, in order: the last acknowledged export and the later exports. At most the newest
    /// `longestChain`.
    public let chain: [Link]
    /// Attached files that the device requests. The hub is known to have these files, and the device's rows name them.
    /// They are missing on the device. The list is sorted and names each file once. It is limited to the number of
    /// files that one bundle can carry.
    public let lost: [AttachmentPath]
    /// The sequence of an earlier export. This export contains all changes since that export, so the exports between
    /// the two may be left out. nil: the bundle was made by a version without this member. Then the first export of the
    /// chain is the base.
    public var base: SequenceNumber?
    /// The device's last export in an earlier epoch; 0: it made none. Changes of this generation and later ones are new
    /// in this epoch, whatever the device's clock shows. nil: the bundle was made by a version without this member.
    public var formerExports: SequenceNumber?
    /// The hub's epochs before `epoch`, as its emissions named them to the device, in the order of their text. Empty if
    /// the device knows none, and in bundles that were made by a version without this member.
    public var former: [Epoch] = []
    /// The emission `received`, with the hub's signature. nil: the bundle was made by a version without this member.
    public var proof: EmissionProof?
    /// Digests of emissions of earlier histories. The device has these emissions, and the hub is not known to have
    /// them. Their files come beside this bundle.
    public var brings: [Digest] = []
    /// The digest of the original of this export. The device made the original under its former name, and signed the
    /// export again under its present name. Other exports name the original in their chains. nil: this export was not
    /// signed again.
    public var original: Digest?
    /// Columns that an app on the device renamed, so that their names differ from the hub's.
    public var renamed: [RenamedColumn] = []
    /// The device's statement about its own health; nil: the bundle was made by a version without this member.
    public var health: Health?

    public static let longestChain = 256

    /// An earlier export of the device.
    public struct Link: Hashable, Sendable {
      public let sequence: SequenceNumber
      /// The digest of the export's B2SUMS.
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

    /// Whether no change is missing between `merged`, the last export that a hub has, and this export. This export must
    /// be the next export, or its base must not be later than `merged`. Without `base`, the first export of the chain
    /// is the base. This export may lack only the changes of that first export itself.
    public func reaches(back merged: SequenceNumber) -> Bool {
      if let base { return base <= merged }
      return sequence <= merged.next || chain.first.map { $0.sequence <= merged } ?? false
    }
  }

  /// The hub's data about an emission.
  public struct Scope: Hashable, Sendable {
    public enum Extent: String, Sendable, CaseIterable { case full, delta }

    public let epoch: Epoch
    public let number: EmissionNumber
    /// The emission on which this emission builds; 0: this emission is full.
    public let after: EmissionNumber
    public let extent: Extent
    /// The device's highest merged sequence.
    public let acknowledged: SequenceNumber
    /// The digest of B2SUMS of the export `acknowledged`. It shows the device that it made that export itself, and not
    /// a copy of the device. nil: the hub does not say.
    public let acknowledgedDigest: Digest?
    /// The device's highest sequence that the hub's last backup contains; 0: none. nil: the bundle was made by a
    /// version without this member.
    public var backedUp: SequenceNumber?
    /// The emissions that the device may have when it imports this emission, in order. With any other emission, the
    /// device refuses this bundle. nil: the bundle was made by a version without this member.
    public var follows: [EmissionLink]?
    /// The hub's epochs before this one, in the order of their text; nil: the bundle was made by a version that did not
    /// name them.
    public var former: [Epoch]?
    /// Digests of emissions of earlier epochs that the hub has. The device need not bring their files.
    public var collected: [Digest] = []
    /// Digests of emissions of earlier epochs that the hub knows to have made. It has everything that it made before
    /// them. If an emission is in `collected` alone, the hub has its file, and may lack older ones.
    public var known: [Digest] = []
    /// The sums whose rows the hub requests one by one, in the device's next bundle.
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

  /// The state of a hub when it was copied whole.
  public struct Backup: Hashable, Sendable {
    public let epoch: Epoch
    /// The number of changes that the hub had committed.
    public let cursor: Cursor

    public init(epoch: Epoch, cursor: Cursor) {
      self.epoch = epoch
      self.cursor = cursor
    }
  }

  /// The content of a new device's request.
  public struct Enrolment: Hashable, Sendable {
    public let incarnation: Incarnation
    /// The key that signs this request and all later bundles of the device.
    public let key: PublicKey
    /// The former identity of this device; nil: it is a new device.
    public let continues: Continuation?

    public init(incarnation: Incarnation, key: PublicKey, continues: Continuation? = nil) {
      self.incarnation = incarnation
      self.key = key
      self.continues = continues
    }
  }

  public let bundle: BundleID
  public let dataset: String
  /// The version of the dataset's definition when the bundle was made.
  public let version: Int64
  public private(set) var from: Party
  public let to: Party
  /// The user for whom the device works.
  public let user: String
  /// The time at which the sender made the bundle, by the sender's clock, for people: `2026-01-31T08:05:09Z`.
  public let created: String
  public let stamp: Stamp
  /// The number of lines, by entry; empty entries are left out of the bundle.
  public let changes: Int64
  public let conflicts: Int64
  public let resolutions: Int64
  /// The number of lines about attached files, and the number of files in the bundle. Set from the content when the
  /// bundle is sealed.
  public internal(set) var attachments: Int64 = 0
  public internal(set) var blobs: Int64 = 0
  /// The critical features that the content uses. Set from the content when the bundle is sealed.
  public internal(set) var critical: [Critical] = []
  /// The critical features that the sender can read. Bundles for the sender may use no others. Empty: the sender does
  /// not say.
  public var understands: Set<Critical> = []
  /// The recipient for which bundles to the sender may be encrypted; nil: the sender does not say.
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

  /// Returns this manifest with another name for the sender. Each side has its own names for its devices.
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

  /// The number in the signature's comment: the sequence, the emission's number, the volume's part or the backup's
  /// cursor. 0 for a request.
  public var number: Int64 {
    switch body {
    case .changes(let changes): changes.sequence.rawValue
    case .scope(let scope): scope.number.rawValue
    case .enrolment: 0
    case .volume(let volume): volume.part
    case .backup(let backup): backup.cursor.rawValue
    }
  }

  /// Whether the bundle contains anything but acknowledgements. If not, it needs no answer.
  public var saysAnything: Bool {
    if changes + conflicts + resolutions + blobs > 0 || rotation != nil { return true }
    return switch body {
    case .scope(let scope): scope.extent == .full
    case .changes(let changes): !changes.lost.isEmpty
    default: false
    }
  }

  /// The number of this bundle, or of the bundle of which it is a volume.
  public var wholeNumber: Int64 {
    if case .volume(let volume) = body { return volume.number }
    return number
  }

  /// The name of the bundle's file, safe on FAT and exFAT.
  public var fileName: String {
    guard case .volume(let volume) = body else { return wholeFileName }
    let (part, parts) =
      volume.isParity
      ? (String(volume.part - volume.parts), String(volume.parity)) : (String(volume.part), String(volume.parts))
    let zeros = String(repeating: "0", count: parts.utf8.count - part.utf8.count)
    return "\(stem)-\(volume.isParity ? "p" : "")\(zeros)\(part)of\(parts).satchel"
  }

  /// The file name of this bundle, or of the bundle of which it is a volume.
  public var wholeFileName: String { "\(stem).satchel" }

  private var stem: String { "\(Self.namePrefix(dataset: dataset, from: from.name, to: to.name))\(wholeNumber)" }

  /// The prefix of the names of all bundles from one replica to another; their numbers follow.
  public static func namePrefix(dataset: String, from: String, to: String) -> String { "\(dataset)-\(from)-\(to)-" }
}

public enum BundleKind: String, Sendable, CaseIterable {
  case changes, scope, enrolment, volume, backup

  /// The words for a file of this kind, as they follow "This is " in a message.
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
