import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A small picture, in a format that every browser shows and that cannot run programs.
public struct AttachedImage: Sendable {
  /// The media type, for example `image/png`.
  public let type: String
  public let bytes: [UInt8]

  /// The size of the largest file that is shown as a picture.
  public static let mostBytes: Int64 = 4 << 20

  /// Returns nil if the bytes do not begin like a picture in a known format, or the picture has too many pixels.
  init?(_ bytes: [UInt8]) {
    let found: (type: String, size: PictureSize?)
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
      found = ("image/png", PictureSize(png: bytes))
    } else if bytes.starts(with: [0xff, 0xd8, 0xff]) {
      found = ("image/jpeg", PictureSize(jpeg: bytes))
    } else if bytes.starts(with: "GIF8".utf8) {
      found = ("image/gif", PictureSize(gif: bytes))
    } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      found = ("image/webp", PictureSize(webP: bytes))
    } else {
      return nil
    }
    guard let size = found.size, size.isShown else { return nil }
    (type, self.bytes) = (found.type, bytes)
  }
}

extension HubWorkspace {
  /// The columns of a table that name attachments.
  public func fileColumns(of table: Name) throws -> [Name] {
    let store = try store()
    return store.place(of: table).map { store.tables[$0].rules.attachments } ?? []
  }

  /// The size of the file at this path below `files/`, in bytes. nil if there is none.
  public func sizeOfFile(at path: AttachmentPath) throws -> Int64? {
    if case .present(let bytes) = try AttachedFiles(folder, platform).fileStatus(at: path) { return bytes }
    return nil
  }

  /// The picture at this path below `files/`. nil if there is no file, if it is too large, or if it is no picture.
  public func image(at path: AttachmentPath) throws -> AttachedImage? {
    guard let bytes = try sizeOfFile(at: path), bytes <= AttachedImage.mostBytes else { return nil }
    let file = Paths.join(folder.attached, path.text)
    return AttachedImage(try platform.files.read(file, limit: Int(AttachedImage.mostBytes)))
  }
}
