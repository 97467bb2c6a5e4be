#ifndef SATCHEL_CARCHIVE_SHIM_H
#define SATCHEL_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

#endif
