import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A small picture in a format that every browser shows and that runs nothing.
public struct AttachedImage: Sendable {
  /// The media type, such as `image/png`.
  public let type: String
  public let bytes: [UInt8]

  /// The largest file that is shown as a picture.
  public static let mostBytes: Int64 = 4 << 20

  /// nil: the bytes do not begin as a picture in a known format does.
  init?(_ bytes: [UInt8]) {
    let beginnings: [(String, [UInt8])] = [
      ("image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ("image/jpeg", [0xff, 0xd8, 0xff]),
      ("image/gif", Array("GIF8".utf8)),
    ]
    let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
    guard let type = isWebP ? "image/webp" : beginnings.first(where: { bytes.starts(with: $0.1) })?.0 else {
      return nil
    }
    (self.type, self.bytes) = (type, bytes)
  }
}

extension HubWorkspace {
  /// The columns of a table that name files.
  public func fileColumns(of table: Name) throws -> [Name] {
    let store = try store()
    return store.place(of: table).map { store.tables[$0].rules.attachments } ?? []
  }

  /// Whether there is a file at this path below `files/`, and its size in bytes; nil: there is none.
  public func sizeOfFile(at path: AttachmentPath) throws -> Int64? {
    if case .present(let bytes) = try AttachedFiles(folder, platform).fileStatus(at: path) { return bytes }
    return nil
  }

  /// The picture at this path below `files/`; nil: there is no file, it is too large, or it is no picture.
  public func image(at path: AttachmentPath) throws -> AttachedImage? {
    guard let bytes = try sizeOfFile(at: path), bytes <= AttachedImage.mostBytes else { return nil }
    let file = Paths.join(folder.attached, path.text)
    return AttachedImage(try platform.files.read(file, limit: Int(AttachedImage.mostBytes)))
  }
}
