/* program/local_zone.h: the zone in which this machine's clocks show the time. */
#ifndef ALK_PROGRAM_LOCAL_ZONE_H
#define ALK_PROGRAM_LOCAL_ZONE_H

#include <alkstore/base.h>

#define ALK__LOCAL_ZONE_BYTES 128

/* The IANA name that folder/localtime, a link into the zone files, or folder/timezone gives. folder
 * is "/etc". Without a localtime it is UTC, as everywhere.
 * ALK_OK; ALK_INVALID: there is a localtime and nothing says its name. */
alk_status alk__local_zone(const char *folder, char name[ALK__LOCAL_ZONE_BYTES], alk_error *error);

#endif
