#ifndef SATCHEL_CARCHIVE_SHIM_H
#define SATCHEL_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

// AE_IFREG is a cast expression, which the importer leaves out.
static const unsigned int satchel_regular_file = 0100000;

#endif
