import SatchelHub
import SatchelPlatform
import SatchelValues

/// The files that rows name.
extension ConsoleSite {
  /// A file with one of these endings may be shown as a picture. When the browser requests the file, its bytes decide.
  private static let pictures = [".png", ".jpg", ".jpeg", ".gif", ".webp"]

  /// A file that a row names: a picture if it is small, otherwise its path and its size.
  static func file(_ path: String, _ hub: HubWorkspace) throws -> Markup {
    let name = Words.beginning(path, 200)
    guard let place = AttachmentPath(path) else { return "\(name) (this is no path of a file)" }
    guard let bytes = try hub.sizeOfFile(at: place) else { return "\(name) (not here)" }
    let size = "\((bytes + 1023) >> 10) KiB"
    let ending = path.lowercased()
    guard bytes <= AttachedImage.mostBytes, pictures.contains(where: { ending.hasSuffix($0) }) else {
      return "\(name) (\(size))"
    }
    return """
      <img src="file?path=\(percentEncoded(path))" alt="\(name)" loading="lazy"><small>\(name) (\(size))</small>
      """
  }

  /// Sends a small picture. Other files are not sent.
  func file(_ request: WebRequest, _ hub: HubWorkspace) throws -> WebResponse {
    guard let path = AttachmentPath(try request.needed("path")), let image = try hub.image(at: path) else {
      return Self.nowhere
    }
    return .bytes(image.bytes, type: image.type)
  }
}
