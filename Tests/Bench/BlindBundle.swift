import SatchelBundle
import SatchelHub
import SatchelPlatform

extension SurveyHub {
  /// Signs the hub's newest bundle again, without the announcement that the hub understands unseen writes. This bundle
  /// does not state the versions that rows may have. With the announcement, the device would compare all its rows.
  func makeBundleBlind() throws {
    let hub = try HubWorkspace.open("\(root)/hub", platform: .real)
    let key = try hub.keys.signing()
    let bundle = try BundleReader(platform: .real).read(
      "\(root)/back.satchel", trust: .keys([key.publicKey]), staging: root)
    var draft = try BundleDraft(in: root, platform: .real)
    try draft.addContents(of: bundle)
    var manifest = bundle.manifest
    manifest.understands.remove(.unseen)
    let made = try draft.write(draft.seal(manifest, with: key))
    try HostFileSystem().rename(made, to: "\(root)/blind.satchel")
  }
}
