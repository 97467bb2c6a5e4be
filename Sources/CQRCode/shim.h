#ifndef SATCHEL_CQRCODE_SHIM_H
#define SATCHEL_CQRCODE_SHIM_H

#include <qrcodegen.h>

#endif
