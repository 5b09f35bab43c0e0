/* cmake/analyzer.h: what clang-tidy cannot know, as it sees one file at a time: these functions
 * return the status that they are given, which is a failure. scripts/tidy puts it in front of each
 * file. */
#include "base/error.h"

#define alk__fail(error, status, ...) ((void)(alk__fail)(error, status, __VA_ARGS__), (status))
#define alk__wrap(error, status, ...) ((void)(alk__wrap)(error, status, __VA_ARGS__), (status))
#define alk__nomem(error) ((void)(alk__nomem)(error), ALK_NOMEM)
