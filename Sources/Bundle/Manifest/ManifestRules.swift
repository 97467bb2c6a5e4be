extension Manifest {
  /// Throws if the members of this manifest contradict each other. Both the writer and the reader of a bundle call
  /// this.
  func check(_ entries: [Entry]) throws(BundleError) {
    let present = entries.map(\.name)
    for (name, lines) in [
      (EntryName.changes, changes), (.resolutions, resolutions), (.conflicts, conflicts), (.attachments, attachments),
    ] {
      guard present.contains(name) == (lines > 0) else {
        throw .manifest(
          "it promises \(lines) lines in \(name.rawValue), which \(present.contains(name) ? "is" : "is not") there")
      }
    }
    let carried = Int64(present.count(where: \.isBlob))
    guard carried == blobs, carried <= BundleLimits.mostBlobs, carried == 0 || attachments > 0 else {
      throw .manifest("it promises \(blobs) attached files, and carries \(carried)")
    }
    guard attachments <= BundleLimits.mostAttachments else {
      throw .manifest("it has more than \(BundleLimits.mostAttachments) lines about attached files")
    }
    guard critical.contains(.attachments) == (attachments > 0) else {
      throw .manifest("its members about attached files and critical contradict each other")
    }
    guard critical.contains(.state) == present.contains(.state) else {
      throw .manifest("its members about the state of rows and critical contradict each other")
    }
    let (required, allowed) = body.entries(critical)
    if let missing = required.first(where: { !present.contains($0) }) {
      throw .manifest("it has no \(missing.rawValue)")
    }
    if let strange = present.first(where: { !required.contains($0) && !allowed.contains($0) && !$0.isBlob }) {
      throw .manifest("\(strange.rawValue) has no place in a bundle of its kind")
    }
    guard !present.contains(.migrations) || present.contains(.dataset) else {
      throw .manifest("it changes tables, and has no dataset.json with the new ones")
    }
    if case .changes(let changes) = body {
      guard changes.chain.isInOrder, changes.chain.last.map({ $0.sequence < changes.sequence }) ?? true else {
        throw .manifest("chain is too long, out of order, or names exports that are not before this one")
      }
      guard changes.lost.count <= BundleLimits.mostBlobs,
        zip(changes.lost, changes.lost.dropFirst()).allSatisfy({ $0 < $1 })
      else { throw .manifest("lost is too long or out of order") }
      guard changes.base.map({ $0 < changes.sequence }) ?? true else {
        throw .manifest("base is not before this export")
      }
      guard changes.formerExports.map({ $0 < changes.sequence }) ?? true else {
        throw .manifest("former_exports is not before this export")
      }
      guard !changes.former.contains(changes.epoch) else { throw .manifest("former names the epoch of this export") }
    }
    if case .backup = body {
      guard from == to, user.isEmpty else { throw .manifest("a backup is from a hub to itself") }
    }
    if case .volume(let volume) = body {
      guard volume.isPossible else { throw .manifest("it is not a possible piece of a bundle") }
      guard let part = entries.first, volume.pieceBytes(ofPartWith: part.bytes) != nil else {
        throw .manifest("its piece has another size than it should have")
      }
    }
    guard critical.contains(.parity) == body.isParity else {
      throw .manifest("its number as a piece and critical contradict each other")
    }
    guard !critical.contains(.keys) || changes > 0 else {
      throw .manifest("critical names keys, and there are no lines about keys")
    }
    guard !critical.contains(.unseen) || changes + conflicts > 0 else {
      throw .manifest("critical names unseen, and there are no lines about rows or conflicts")
    }
    guard !critical.contains(.units) || changes + conflicts > 0 else {
      throw .manifest("critical names units, and there are no lines that could belong to a unit")
    }
    guard critical.contains(.continues) == (body.continuation != nil) else {
      throw .manifest("its member continues and critical contradict each other")
    }
    if case .enrolment = body {
      guard version == 1, user.isEmpty, to == .unknownHub else {
        throw .manifest("an enrolment cannot name a user")
      }
      guard body.continuation?.chain.isInOrder ?? true else { throw .manifest("chain is too long or out of order") }
    }
    guard rotation == nil || kind == .changes || kind == .scope, revoked == nil || kind == .scope else {
      throw .manifest("it announces keys, which have no place in a bundle of its kind")
    }
    try checkRotation()
    if case .scope(let scope) = body {
      let builds = scope.after > .zero && scope.after < scope.number
      guard scope.extent == .full ? scope.after == .zero : builds else {
        throw .manifest("the emission \(scope.number) cannot build on \(scope.after)")
      }
      guard scope.follows?.last.map({ $0.number < scope.number }) ?? true, scope.former?.contains(scope.epoch) != true
      else {
        throw .manifest("it follows itself")
      }
      guard scope.backedUp.map({ $0 <= scope.acknowledged }) ?? true else {
        throw .manifest("a backup contains an export that the hub has not merged")
      }
    }
  }
}

extension Manifest.Volume {
  /// Whether these numbers and this kind are possible for a volume.
  fileprivate var isPossible: Bool {
    // The limits are checked first, so that the sums below cannot overflow.
    guard parts <= Self.most, parity <= Self.mostWithParity, parity == 0 || parts + parity <= Self.mostWithParity
    else { return false }
    return part <= parts + parity && parts <= bytes && (whole == .changes || whole == .scope)
  }
}

extension Manifest.Body {
  /// Whether this bundle is a parity volume.
  fileprivate var isParity: Bool {
    if case .volume(let volume) = self { return volume.isParity }
    return false
  }

  /// The former identity in a request for enrolment; nil if there is none.
  var continuation: Manifest.Continuation? {
    if case .enrolment(let enrolment) = self { return enrolment.continues }
    return nil
  }

  /// The entries that a bundle of this kind must have after the manifest, and the entries that it may have.
  fileprivate func entries(_ critical: [Manifest.Critical]) -> (required: [EntryName], allowed: [EntryName]) {
    switch self {
    case .changes: ([], [.changes, .resolutions, .conflicts, .snapshot, .attachments, .state])
    case .scope(let scope):
      switch scope.extent {
      case .full:
        (
          [.dataset, .snapshot], [.conflicts, .migrations, .attachments] + (critical.contains(.keys) ? [.changes] : [])
        )
      case .delta: ([], [.changes, .conflicts, .dataset, .migrations, .attachments])
      }
    case .enrolment: ([], [])
    case .volume: ([.part], [])
    case .backup: ([.snapshot, .files], [])
    }
  }
}
