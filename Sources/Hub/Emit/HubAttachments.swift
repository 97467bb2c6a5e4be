import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The attachments in bundles for devices.
///
/// The rows that its user sees decide which files a device gets. But a device could write the name of any file into a
/// row. Such a name counts only after the device has shown that it has the file.
struct HubAttachments {
  let store: HubStore
  let files: AttachedFiles
  private let places: FilePlaces
  private let mostBeside: Int

  init(_ store: HubStore, _ workspace: HubWorkspace) {
    self.store = store
    mostBeside = workspace.mostBeside
    places = FilePlaces(workspace, store)
    files = AttachedFiles(workspace.folder, workspace.platform)
  }

  /// Whether the dataset has a column for attachments.
  var areAny: Bool { store.tables.contains { !$0.rules.attachments.isEmpty } }

  /// The files that an emission may carry.
  struct Outgoing {
    /// The files that the device must get and that are here. Files that were never sent come first. Then come the files
    /// that were sent longest ago.
    fileprivate var owed: [AttachmentPath] = []
    /// The files that were never sent, or that were lost with their bundle.
    fileprivate var due: Set<AttachmentPath> = []
    fileprivate var isPlanEmpty = true
    /// The copies in the draft of the bundle.
    fileprivate var staged: [AttachmentPath: AttachedFiles.Staged] = [:]

    /// Whether these files alone justify a bundle.
    var isDue: Bool { staged.keys.contains { due.contains($0) } }
    var count: Int { staged.count }
    /// The number of files that are here, and that are left for later bundles.
    var left: Int { owed.count - staged.count }
    /// The number of files in `due` that are not in the draft.
    var dueLeft: Int { due.count { staged[$0] == nil } }

    /// Removes files that the device does not need any more.
    mutating func restrict(to now: Outgoing) {
      let owed = Set(now.owed)
      staged = staged.filter { owed.contains($0.key) }
      (self.owed, due) = (now.owed, now.due)
    }
  }

  /// Finds the files of the device that have been written again at the hub.
  func look(for device: EnrolledDevice) throws -> [SeenFile] { try files.look(at: store.knownFiles(of: device.id)) }

  /// Records the files that the device must get by this plan, and returns those that are here. The caller must hold the
  /// transaction.
  /// - Parameter seen: the files whose appearance has changed.
  func owe(by plan: EmissionPlan, _ seen: [SeenFile]) throws -> Outgoing {
    for file in seen {
      if file.isRewritten { try places.correct(file.path, present: file.digest) }
      try store.save(file.path, file.digest, file.mark)
    }
    if plan.extent == .full { try store.forgetAttachments(of: plan.device.id) }
    var rows = try store.owedAttachments(to: plan.device.id).reduce(into: store.tables.map { _ in RowSet() }) {
      $0[$1.place].insert($1.row)
    }
    for (place, table) in store.tables.enumerated() where !table.rules.attachments.isEmpty {
      // If the definition may be new to the device, columns may have become attachment columns just now. So all visible
      // rows are checked.
      let news = plan.carriesDefinition ? plan.visible[place] : plan.rows[place]
      rows[place] = rows[place].union(news).intersection(plan.visible[place])
      try owe(rows[place], in: place, of: plan)
    }
    for place in store.tables.indices {
      for number in plan.gone[place] { try store.forgetAttachments(of: plan.device.id, row: number, place) }
    }
    return try outgoing(by: plan, rows)
  }

  /// Records the files that the device must get because of these rows. The device's user must see all of these rows.
  private func owe(_ rows: RowSet, in place: Int, of plan: EmissionPlan) throws {
    let device = plan.device.id
    try store.numbers[place].each(of: rows, in: store.database) { member in
      guard let row = try store.rows[place].row(member.key) else { return }
      let paths = store.tables[place].attachments(of: row)
      for path in paths.sorted() where try !store.isClaimed(path, in: member.number, place) {
        try store.save(path, member.number, place, store.known(path, at: device) ?? .owed, of: device)
      }
      try store.forgetAttachments(of: device, row: member.number, place, but: paths)
    }
  }

  private func outgoing(by plan: EmissionPlan, _ rows: [RowSet]) throws -> Outgoing {
    var outgoing = Outgoing()
    outgoing.isPlanEmpty = plan.isNothingNew
    var seen: Set<AttachmentPath> = []
    for owed in try store.owedAttachments(to: plan.device.id) where rows[owed.place].contains(owed.row) {
      guard try isThere(owed.path), seen.insert(owed.path).inserted else { continue }
      outgoing.owed.append(owed.path)
      if owed.sent == .zero || owed.sent <= plan.device.proved { outgoing.due.insert(owed.path) }
    }
    return outgoing
  }

  private func isThere(_ path: AttachmentPath) throws -> Bool {
    try files.isThere(path, within: store.dataset.attachments)
  }

  /// Copies as many files into the draft as fit.
  /// - Parameters:
  ///   - room: the room for the bundle.
  ///   - database: the path of the hub's database.
  ///   - rows: makes the bundle without files, and returns the size of its file.
  func stage(
    _ outgoing: inout Outgoing, in room: BundleRoom, besides database: String, into draft: inout BundleDraft,
    rows: () throws -> Int64
  ) throws {
    if outgoing.isPlanEmpty, outgoing.due.isEmpty { return }
    outgoing.staged = try files.stage(
      outgoing.owed, limits: store.dataset.attachments, in: room, besides: database, into: &draft, rows: rows)
  }

  /// Adds the files to the bundle, and the receipts for files from the device. The caller must hold the transaction.
  func seal(_ outgoing: Outgoing, of plan: EmissionPlan, into draft: inout BundleDraft) throws {
    let carried = try outgoing.staged.map {
      BundleDraft.CarriedFile($0.key, $0.value.file, was: try store.version($0.key, at: plan.device))
    }
    try draft.addAttachments(carried, received: store.receipts(for: plan.device))
    for (path, staged) in outgoing.staged {
      try store.save(path, staged.file.digest, staged.mark)
      try store.markSent(path, staged.file.digest, by: plan.number, to: plan.device.id)
    }
    try store.markReceiptsTold(to: plan.device.id, by: plan.number)
  }

  /// Decides what to do with a file from a device. If too many versions from this device are beside the file's name
  /// already, the hub ignores the file. The device sends an ignored file again later.
  func action(_ line: AttachmentLine, _ present: Digest?, from device: EnrolledDevice, in sequence: SequenceNumber)
    throws
    -> ArrivingAttachments.IncomingFileAction
  {
    let action = try place(of: line, present, from: device, in: sequence)
    guard present != line.digest, action == .keepBoth || action == .keepBeside else { return action }
    return try store.countBeside(line, by: device) < mostBeside ? action : .ignore
  }

  /// Decides where to put a file from a device. The file replaces the present file only in one case: the device brought
  /// or had the present file, and its user may change every row that names the file. Without the second condition, a
  /// user could write the name of any file into a row of the user's own, and overwrite that file.
  private func place(
    of line: AttachmentLine, _ present: Digest?, from device: EnrolledDevice, in sequence: SequenceNumber
  ) throws -> ArrivingAttachments.IncomingFileAction {
    let last = try store.lastBrought(line.path, by: device)
    if let last, last.sequence > sequence { return .ignore }
    // A name in the form of a content name is only for the content with this digest. Otherwise a device could occupy
    // the last place where the right file can go.
    if line.path.isLikeContentName, !line.path.isPlace(ofContent: line.digest.hexadecimal) { return .keepBeside }
    guard let present, present == line.was || last.map({ $0.isInPlace && $0.digest == present }) ?? false else {
      return .keepBoth
    }
    return try mayWrite(line.path, device) ? .replace : .keepBoth
  }

  private func mayWrite(_ path: AttachmentPath, _ device: EnrolledDevice) throws -> Bool {
    guard !device.isReadOnly, let user = try store.user(device.user) else { return false }
    let scope = ScopeStore(store, user: user)
    let rows = try NamedAttachments(store.tables).rows(naming: [path], in: store.database)[path] ?? []
    return try !rows.isEmpty
      && rows.allSatisfy { row in
        guard let place = store.place(of: row.table) else { return false }
        return try scope.mayWrite(row.key, in: place)
      }
  }

  func status() throws -> HubStatus.Attachments {
    guard areAny, store.damage.isEmpty else { return .init() }
    var status = HubStatus.Attachments()
    status.missing = try NamedAttachments(store.tables).missing(in: store.database, files, store.dataset.attachments)
    for device in try store.devices() where device.state == .active {
      var waiting: [AttachmentPath: EmissionNumber] = [:]
      for owed in try store.owedAttachments(to: device.id) where try isThere(owed.path) {
        waiting[owed.path] = owed.sent
      }
      if waiting.isEmpty { continue }
      let notSent = waiting.filter { $0.value == .zero }.keys
      status.waiting.append((device.name, waiting.count, notSent.count, try files.bytes(of: notSent)))
    }
    status.beside = try store.filesBeside()
    return status
  }
}

/// The names of files that a device's bundle writes into rows.
struct AttachmentClaims {
  private struct Claim: Hashable {
    let place: Int
    let key: RowKey
    let path: AttachmentPath
  }

  private var all: Set<Claim> = []

  mutating func note(_ step: Step, in place: Int, of table: TrackedTable) {
    if table.rules.attachments.isEmpty { return }
    for path in table.attachments(of: step.change) { all.insert(Claim(place: place, key: step.key, path: path)) }
  }

  /// Records the rows into which the device wrote names of files. A file is sent because of a row only if the writer of
  /// the name had the file.
  func keep(by device: ReplicaID, _ store: HubStore) throws {
    for claim in all {
      let row = try store.numbers[claim.place].assign(claim.key, in: store.database)
      try store.claim(claim.path, in: row, claim.place, by: device)
    }
  }
}
