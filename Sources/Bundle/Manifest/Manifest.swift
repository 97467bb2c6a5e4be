import SatchelCrypto
import SatchelValues

/// The signed description of a bundle: its kind, sender and recipient, and the bundles on which it builds.
public struct Manifest: Hashable, Sendable {
  /// The newest format that this release writes and reads.
  public static let format: Int64 = 1

  /// The sender or the recipient of a bundle.
  public struct Party: Hashable, Sendable {
    public let id: ReplicaID
    public let name: String

    public init(id: ReplicaID, name: String) {
      self.id = id
      self.name = name
    }

    /// The recipient in a request for enrolment, because the device does not know its hub yet.
    public static let unknownHub = Party(id: ReplicaID(random: [UInt8](repeating: 0, count: 16)), name: "hub")
  }

  /// An entry after the manifest, with its size in bytes.
  public struct Entry: Hashable, Sendable {
    public let name: EntryName
    public let bytes: Int64
  }

  /// Features of a bundle that the first release of format 1 cannot read. A reader must support all that the bundle
  /// names.
  public enum Critical: String, Sendable, CaseIterable {
    /// Lines about keys: `rekey` and `block`.
    case keys
    /// A request by a device that had another identity. The hub must not merge again what the device delivered under
    /// that identity.
    case continues
    /// Lines about attachments, and the attachments themselves.
    case attachments
    /// Digests of a device's rows.
    case state
    /// Lines that state which states of a row the device may have, and conflicts of the kind `unseen`.
    case unseen
    /// Rows of some tables are identified by other columns than the PRIMARY KEY.
    case names
    /// Lines and conflicts in units. A reader must take all changes of a unit or none.
    case units
    /// A parity volume, whose piece is computed from the pieces of the other volumes.
    case parity

    /// The features as one text, in the form in which Satchel's tables store them.
    public static func text(of features: Set<Critical>) -> String {
      features.map(\.rawValue).sorted().joined(separator: " ")
    }

    /// The features in such a text. Features that this release does not know are left out.
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

  /// The keys that the sender will use in later bundles.
  public struct Rotation: Hashable, Sendable {
    public let key: PublicKey
    public let recipient: AgeRecipient
    /// The signature of the announcement by `key`; nil if an earlier release made the bundle without it.
    public let proof: Signature?

    public init(key: PublicKey, recipient: AgeRecipient, proof: Signature?) {
      self.key = key
      self.recipient = recipient
      self.proof = proof
    }
  }

  /// A list of revoked keys. Only the list with the highest number is in force.
  public struct Revocations: Hashable, Sendable {
    public let number: Int64
    public let keys: [PublicKey]

    public init(number: Int64, keys: [PublicKey]) {
      self.number = number
      self.keys = keys
    }
  }

  /// The part of the manifest that only an export has.
  public struct Changes: Hashable, Sendable {
    public let epoch: Epoch
    public let incarnation: Incarnation
    /// The emission of the device's database when the export was made.
    public let received: EmissionNumber
    public let sequence: SequenceNumber
    /// Earlier exports in order: the last acknowledged one and all later ones, at most the newest `longestChain`.
    public let chain: [Link]
    /// Attachments that the device requests. The device's rows name them, the device lacks them, and the hub is known
    /// to have them. The list is sorted, has each path once, and has at most as many paths as one bundle can carry
    /// files.
    public let lost: [AttachmentPath]
    /// The sequence of an earlier export. The present export contains all changes since that earlier export. So a hub
    /// that has the earlier export does not need the exports between the two. nil if the bundle is of a release without
    /// this member; then the first export of the chain is the base.
    public var base: SequenceNumber?
    /// The last export of the device in an earlier epoch; 0 if it made none. Changes of this generation and later
    /// ones are of the present epoch, whatever the device's clock shows. nil if the bundle is of a release without
    /// this member.
    public var formerExports: SequenceNumber?
    /// The hub's epochs before `epoch`, as its emissions have named them, in the order of their text. Empty if the
    /// device knows none, or if the bundle is of a release without this member.
    public var former: [Epoch] = []
    /// The digest of the emission `received`, with the hub's signature. nil if the bundle is of a release without
    /// this member.
    public var proof: EmissionProof?
    /// The digests of emissions of earlier histories that the device has and that the hub is not known to have. A
    /// person carries their files beside this bundle.
    public var brings: [Digest] = []
    /// The digest of the original of this export, if the device made the original under its former name and has
    /// signed it again under its present name. The chains of other exports name the original. nil if this export was
    /// not signed again.
    public var original: Digest?
    /// The columns that an app on the device renamed, so that they have other names than at the hub.
    public var renamed: [RenamedColumn] = []
    /// The device's statement about its own state; nil if the bundle is of a release without this member.
    public var health: Health?

    public static let longestChain = 256

    /// An earlier export of the device.
    public struct Link: Hashable, Sendable {
      public let sequence: SequenceNumber
      /// The digest of B2SUMS of that export.
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

    /// Whether this export has all changes after `merged`, the last export that a hub has merged. This is true for the
    /// next export, and for an export whose base is not later than `merged`. If an export names no base, the first
    /// export of its chain is the base. Such an export may lack the changes of that first export, and no others.
    public func reaches(back merged: SequenceNumber) -> Bool {
      if let base { return base <= merged }
      return sequence <= merged.next || chain.first.map { $0.sequence <= merged } ?? false
    }
  }

  /// The part of the manifest that only an emission has.
  public struct Scope: Hashable, Sendable {
    public enum Extent: String, Sendable, CaseIterable { case full, delta }

    public let epoch: Epoch
    public let number: EmissionNumber
    /// The emission on which this one builds; 0 if this one is full.
    public let after: EmissionNumber
    public let extent: Extent
    /// The device's highest sequence that the hub has merged.
    public let acknowledged: SequenceNumber
    /// The digest of B2SUMS of the export `acknowledged`. It shows the device whether it made this export itself, or
    /// a copy of the device did. nil if the hub does not state it.
    public let acknowledgedDigest: Digest?
    /// The device's highest sequence in the hub's last backup; 0 if there is none. nil if the bundle is of a release
    /// without this member.
    public var backedUp: SequenceNumber?
    /// The emissions on which the device may be when it imports this one, in order. On any other emission the device
    /// refuses this bundle. nil if the bundle is of a release without this member.
    public var follows: [EmissionLink]?
    /// The hub's epochs before this one, in the order of their text; nil if the bundle is of a release without this
    /// member.
    public var former: [Epoch]?
    /// The digests of emissions of earlier epochs whose files the hub has. The device need not bring these files.
    public var collected: [Digest] = []
    /// The digests of emissions of earlier epochs that the hub knows to have made. The hub has everything that it
    /// made before them. An emission that is only in `collected` does not show this: the hub may lack older ones.
    public var known: [Digest] = []
    /// The hub's request for the digest of each row of these sums, for the device's next bundle.
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

  /// The part of the manifest that only a backup has: the state of the hub at that time.
  public struct Backup: Hashable, Sendable {
    public let epoch: Epoch
    /// The number of row changes that the hub had committed.
    public let cursor: Cursor

    public init(epoch: Epoch, cursor: Cursor) {
      self.epoch = epoch
      self.cursor = cursor
    }
  }

  /// The part of the manifest that only a request for enrolment has.
  public struct Enrolment: Hashable, Sendable {
    public let incarnation: Incarnation
    /// The key that signs this request and the later bundles of the device.
    public let key: PublicKey
    /// The former identity of this device; nil for a new device.
    public let continues: Continuation?

    public init(incarnation: Incarnation, key: PublicKey, continues: Continuation? = nil) {
      self.incarnation = incarnation
      self.key = key
      self.continues = continues
    }
  }

  public let bundle: BundleID
  public let dataset: String
  /// The version of the dataset when the bundle was made.
  public let version: Int64
  public private(set) var from: Party
  public let to: Party
  /// The user for whom the device works.
  public let user: String
  /// The time at which the bundle was made, by the sender's clock. It is for people, for example
  /// `2026-01-31T08:05:09Z`.
  public let created: String
  public let stamp: Stamp
  /// The number of lines in each entry. The bundle has no entry without lines.
  public let changes: Int64
  public let conflicts: Int64
  public let resolutions: Int64
  /// The number of lines about attachments, and the number of carried contents. `seal` computes both.
  public internal(set) var attachments: Int64 = 0
  public internal(set) var blobs: Int64 = 0
  /// The features that the content needs. `seal` computes them.
  public internal(set) var critical: [Critical] = []
  /// The features that the sender can read. A bundle for the sender may need no others. Empty if the sender states
  /// none.
  public var understands: Set<Critical> = []
  /// The age recipient for which bundles to the sender may be encrypted; nil if the sender states none.
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

  /// The same manifest with another name for the sender, because a replica may use another name for it.
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

  /// The number in the signature's comment: the sequence, the emission, the volume's part or the backup's cursor. 0
  /// for a request.
  public var number: Int64 {
    switch body {
    case .changes(let changes): changes.sequence.rawValue
    case .scope(let scope): scope.number.rawValue
    case .enrolment: 0
    case .volume(let volume): volume.part
    case .backup(let backup): backup.cursor.rawValue
    }
  }

  /// Whether the bundle has more than acknowledgements. Otherwise it needs no answer.
  public var saysAnything: Bool {
    if changes + conflicts + resolutions + blobs > 0 || rotation != nil { return true }
    return switch body {
    case .scope(let scope): scope.extent == .full
    case .changes(let changes): !changes.lost.isEmpty
    default: false
    }
  }

  /// The number of this bundle or, for a volume, of its whole bundle.
  public var wholeNumber: Int64 {
    if case .volume(let volume) = body { return volume.number }
    return number
  }

  /// The name of the bundle's file. FAT and exFAT allow it.
  public var fileName: String {
    guard case .volume(let volume) = body else { return wholeFileName }
    let (part, parts) =
      volume.isParity
      ? (String(volume.part - volume.parts), String(volume.parity)) : (String(volume.part), String(volume.parts))
    let zeros = String(repeating: "0", count: parts.utf8.count - part.utf8.count)
    return "\(stem)-\(volume.isParity ? "p" : "")\(zeros)\(part)of\(parts).satchel"
  }

  /// The file name of this bundle or, for a volume, of its whole bundle.
  public var wholeFileName: String { "\(stem).satchel" }

  private var stem: String { "\(Self.namePrefix(dataset: dataset, from: from.name, to: to.name))\(wholeNumber)" }

  /// The beginning of the file names of all bundles from one replica to another. The number follows it.
  public static func namePrefix(dataset: String, from: String, to: String) -> String { "\(dataset)-\(from)-\(to)-" }
}

public enum BundleKind: String, Sendable, CaseIterable {
  case changes, scope, enrolment, volume, backup

  /// The description of such a file. In a message it follows "This is ".
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
