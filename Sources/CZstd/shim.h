#ifndef SATCHEL_CZSTD_SHIM_H
#define SATCHEL_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
