import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The place in which a command put the bundle of one export or emission.
struct Delivered {
  /// The file for a person to carry. nil if volumes replace it, or if it is not copied.
  var copy: String?
  /// The volumes that replace the file. Parity volumes come last.
  var volumes: [String] = []
  /// Whether the bundle goes to standard output.
  var isStreamed = false

  /// The number of volumes that make the bundle.
  private var needed: Int { volumes.count { !BundleName.isOfParity(Paths.name(of: $0)) } }

  var members: [JSONValue.Member] {
    [
      .init(name: "copy", value: .optional(copy)), .init(name: "volumes", value: .strings(volumes)),
      .init(name: "volumes_needed", value: .integer(Int64(needed))),
    ]
  }

  /// The bundle's place, in words.
  func place(_ file: String) -> String {
    if isStreamed { return "standard output" }
    guard let first = volumes.first else { return copy ?? file }
    let enough = needed < volumes.count ? ", of which any \(needed) are enough" : ""
    return "\(Words.count(volumes.count, "volume")) from \(first) on\(enough)"
  }
}

/// The places that `--to` may name, besides standard output.
enum DeliveryTarget { case folder, folderOrFile }

extension ParsedCommand {
  /// Checks the options for the delivery before the command makes a bundle. Otherwise the command could fail after it
  /// made a bundle, and the next run would report that bundle as old.
  func checkDelivery(to kind: DeliveryTarget, _ context: CommandContext) throws {
    let isCut = try volumePlan() != nil
    _ = try bundleRoom()
    guard let target = value("to") else { return }
    if target == Streams.word {
      try Streams.checkOutput(context)
      if isCut { throw UsageError("volumes are several files: --volume-size does not go with --to -") }
      return
    }
    try checkMedium(of: path(target), context)
    let medium = try Medium(of: path(target), context.platform.files)
    if medium.mustProveSize(for: self) {
      _ = try SizeCheck.once(path(target), context.confined(below: path(target)).platform)
    }
    if kind == .folder || isCut {
      guard try context.platform.isFolder(path(target)) else {
        throw Stick.noFolder(path(target), hint: isCut ? "Volumes go into a folder." : nil)
      }
    } else {
      _ = try context.platform.place(of: "bundle.satchel", at: path(target))
    }
  }

  /// Copies a bundle from the outbox to the place of `--to`, as volumes if they are requested and needed.
  ///
  /// If `--to` names a stick, the place is the folder in which `sync` puts this replica's bundles. Other files in that
  /// folder stay.
  /// - Parameters:
  ///   - replica: the sender.
  ///   - unknown: finds the files of the replica that the replica does not know.
  ///   - cut: cuts the bundle into volumes in the folder `target`. If `target` is nil, in the outbox.
  func deliver(
    _ file: String, of replica: WorkspaceConfiguration, _ context: CommandContext, unknown: Stick.UnknownOwn,
    cut: (_ plan: VolumePlan, _ target: String?) throws -> [String]
  ) throws -> Delivered {
    if dryRun { return Delivered() }
    if value("to") == Streams.word { return Delivered(isStreamed: true) }
    let target = try value("to").map { try place(for: file, in: path($0), of: replica, context, unknown) }
    if let target { try checkName(of: file, at: target, context, unknown) }
    if let plan = try volumePlan() {
      let volumes = try cut(plan, target)
      if !volumes.isEmpty { return Delivered(volumes: volumes) }
    }
    return Delivered(copy: try target.map { try context.platform.deliver(file, to: $0) })
  }

  /// Throws if a copy, or a volume of it, would take the name of a file that this replica does not know.
  func checkName(
    of file: String, at target: String, _ context: CommandContext, _ unknown: Stick.UnknownOwn
  ) throws {
    let files = context.platform.files
    var paths = [try context.platform.place(of: file, at: target)]
    if try context.platform.isFolder(target), try volumePlan() != nil {
      let whole = Paths.name(of: file)
      paths += try files.list(target).filter { BundleName.whole(ofVolume: $0) == whole }.map { Paths.join(target, $0) }
    }
    let present = try paths.filter { try files.kind($0) == .file }
    guard let found = try unknown(present).first else { return }
    throw WorkspaceError(
      .exists, "\(found.path) is another file of this workspace, which this workspace does not know. It stays.",
      hint: "Carry it to its receiver. Choose another folder for the new file.")
  }

  /// The place for a copy of a bundle. On a stick, it is the folder for the bundle's receiver. Otherwise, it is the
  /// named folder or file.
  private func place(
    for file: String, in named: String, of replica: WorkspaceConfiguration, _ context: CommandContext,
    _ unknown: Stick.UnknownOwn
  ) throws -> String {
    // A person who names the stick's own folder means the stick.
    let root = Paths.name(of: named) == StickLayout.folderName ? Paths.parent(of: named) : named
    let platform = context.confined(below: root).platform
    guard try platform.isFolder(root), try Stick.isStick(root, platform),
      let receiver = BundleName.receiver(of: Paths.name(of: file), from: replica.name, dataset: replica.dataset)
    else { return named }
    let stick = try Stick(root, of: replica, platform, unknown: unknown)
    let folder = try stick.folder(for: file, to: receiver)
    try stick.explain()
    try platform.files.makeDirectory(folder, mode: 0o755)
    return folder
  }
}
