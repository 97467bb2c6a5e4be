import SatchelBundle
import SatchelCrypto
import SatchelValues

extension WorkspaceKeys {
  /// The announcement of the next signing key, signed by that key; nil if there is no next key.
  public func rotation(of replica: ReplicaID, in dataset: String) throws -> Manifest.Rotation? {
    guard let next = try nextKey() else { return nil }
    let statement = KeyStatement.rotation(dataset: dataset, replica: replica, next: next)
    return .init(key: next, recipient: try recipient(), proof: try statement.signed(with: nextSigning()))
  }
}
