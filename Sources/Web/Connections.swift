import CMicroHTTPD

/// The connections that are open. Those that have no request which was let in give way to new ones, the oldest first:
/// silent connections cannot lock others out.
final class Connections {
  /// How many may be open without a request that was let in. The server has room for twice as many.
  private static let mostIdle = 64

  /// How long a connection with a request may say nothing, in seconds: a browser may read from a slow stick.
  private static let patience: UInt32 = 60

  /// Those without a request that was let in, the oldest first.
  private var idle: [OpaquePointer] = []

  func open(_ connection: OpaquePointer) {
    idle.append(connection)
    if idle.count > Self.mostIdle { satchel_http_hang_up(idle.removeFirst()) }
  }

  /// Its request was let in.
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
