import SatchelJSON
import SatchelPlatform
import SatchelWorkspace

/// Where the bundle of one export or emission went.
struct Delivered {
  /// The file that a person carries; nil: there are volumes in its place, or it is not copied.
  var copy: String?
  var volumes: [String] = []
  /// It goes to standard output.
  var isStreamed = false

  var members: [JSONValue.Member] {
    [.init(name: "copy", value: .optional(copy)), .init(name: "volumes", value: .strings(volumes))]
  }

  /// Where it lies, in words.
  func place(_ file: String) -> String {
    if isStreamed { return "standard output" }
    guard let first = volumes.first else { return copy ?? file }
    return "\(Words.count(volumes.count, "volume")) from \(first) on"
  }
}

/// What `--to` may name, besides standard output.
enum DeliveryTarget { case folder, folderOrFile }

extension ParsedCommand {
  /// Checks what was said of where bundles go, before anything is made: a bundle that nobody was told of would only be
  /// called old the next time.
  func checkDelivery(to kind: DeliveryTarget, _ context: CommandContext) throws {
    let size = try volumeSize()
    guard let target = value("to") else { return }
    if target == Streams.word {
      try Streams.checkOutput(context)
      if size != nil { throw UsageError("volumes are several files: --volume-size does not go with --to -") }
    } else if kind == .folder || size != nil {
      guard try context.platform.isFolder(path(target)) else {
        throw Stick.noFolder(path(target), hint: size == nil ? nil : "Volumes go into a folder.")
      }
    } else {
      _ = try context.platform.place(of: "bundle.satchel", at: path(target))
    }
  }

  /// The most that a volume's file may have, in bytes; nil: bundles stay whole.
  func volumeSize() throws -> Int64? {
    guard let text = value(Volumes.option.long) else { return nil }
    guard let bytes = ByteSize.bytes(text) else {
      throw UsageError("--volume-size takes a size such as 4095M or 700M, and not \(text)")
    }
    guard bytes >= BundleVolumes.leastBytes else { throw UsageError("--volume-size is at least 64K") }
    return bytes
  }

  /// Brings a bundle that lies in the outbox to where `--to` says, in volumes where that is asked for and needed.
  /// - Parameter cut: cuts it into a folder, or into the outbox where that is nil.
  func deliver(
    _ file: String, _ context: CommandContext, cut: (_ size: Int64, _ target: String?) throws -> [String]
  ) throws -> Delivered {
    if dryRun { return Delivered() }
    if value("to") == Streams.word { return Delivered(isStreamed: true) }
    let target = value("to").map(path)
    if let size = try volumeSize() {
      let volumes = try cut(size, target)
      if !volumes.isEmpty { return Delivered(volumes: volumes) }
    }
    return Delivered(copy: try target.map { try context.platform.deliver(file, to: $0) })
  }
}
