import CMicroHTTPD

/// The open connections. If there are too many connections without an admitted request, the oldest of them is closed.
/// So silent connections cannot lock other clients out.
final class Connections {
  /// The limit on open connections without an admitted request. The server has room for twice as many connections.
  private static let mostIdle = 64

  /// How long a connection with an admitted request may be silent, in seconds. A browser may read from a slow stick.
  private static let patience: UInt32 = 60

  /// The connections without an admitted request, oldest first.
  private var idle: [OpaquePointer] = []

  func open(_ connection: OpaquePointer) {
    idle.append(connection)
    if idle.count > Self.mostIdle { satchel_http_hang_up(idle.removeFirst()) }
  }

  /// Records that the connection's request was admitted.
  func admit(_ connection: OpaquePointer) {
    idle.removeAll { $0 == connection }
    satchel_http_set_timeout(connection, Self.patience)
  }

  /// Records that the connection's request was answered, or has ended without an answer.
  func noteEnd(of connection: OpaquePointer) {
    if !idle.contains(connection) { idle.append(connection) }
  }

  func close(_ connection: OpaquePointer) { idle.removeAll { $0 == connection } }
}
