#ifndef SATCHEL_CLINUX_SHIM_H
#define SATCHEL_CLINUX_SHIM_H

#include <sys/types.h>

/* fallocate(2). The C library shows this call only to programs that define _GNU_SOURCE, and Swift does not. */
extern int fallocate(int file, int mode, off_t offset, off_t length);

/* The blocks are reserved, and the size of the file stays. */
enum { SATCHEL_KEEP_SIZE = 1 };

#endif
