#ifndef SATCHEL_CMICROHTTPD_SHIM_H
#define SATCHEL_CMICROHTTPD_SHIM_H

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Swift cannot call MHD_start_daemon, because it is variadic. The server accepts requests only from this machine. One
   thread answers one request after another. Port 0: any free port. */
static inline struct MHD_Daemon *satchel_http_start(
    uint16_t port, MHD_AccessHandlerCallback handler, void *handled, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback noticed) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  return MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, handler, handled, MHD_OPTION_SOCK_ADDR, &address,
      MHD_OPTION_NOTIFY_COMPLETED, completed, handled, MHD_OPTION_NOTIFY_CONNECTION, noticed, handled,
      MHD_OPTION_CONNECTION_LIMIT, 128u, MHD_OPTION_CONNECTION_TIMEOUT, 10u,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)65536, MHD_OPTION_END);
}

/* Has a connection end: the server finds it closed, as if the other side had done that. */
static inline void satchel_http_hang_up(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info) shutdown(info->connect_fd, SHUT_RDWR);
}

static inline void satchel_http_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static inline uint16_t satchel_http_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

#endif
