import CMicroHTTPD

/// The open connections. Connections without an admitted request give way to new ones, oldest first: silent connections
/// cannot lock others out.
final class Connections {
  /// The most open connections without an admitted request. The server has room for twice as many.
  private static let mostIdle = 64

  /// How long a connection with a request may be silent, in seconds: a browser may read from a slow stick.
  private static let patience: UInt32 = 60

  /// Connections without an admitted request, oldest first.
  private var idle: [OpaquePointer] = []

  func open(_ connection: OpaquePointer) {
    idle.append(connection)
    if idle.count > Self.mostIdle { satchel_http_hang_up(idle.removeFirst()) }
  }

  /// Its request was admitted.
  func admit(_ connection: OpaquePointer) {
    idle.removeAll { $0 == connection }
    satchel_http_set_timeout(connection, Self.patience)
  }

  /// Its request was answered, or is over.
  func noteEnd(of connection: OpaquePointer) {
    if !idle.contains(connection) { idle.append(connection) }
  }

  func close(_ connection: OpaquePointer) { idle.removeAll { $0 == connection } }
}
