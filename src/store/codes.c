/* store/codes.c: what an engine's code means for the caller: may it go better later, is a value to
 * blame, or is a person needed. What code_table.h does not name is permanent (S35). */
#include <string.h>

#include "store/driver.h"

static const struct sqlite_code {
    int code;
    alk_status status;
} sqlite_codes[] = {
#define ALK__SQLITE_CODE(number, name, status) {(number), (status)},
#include "store/code_table.h"
#undef ALK__SQLITE_CODE
};

static const struct postgres_code {
    const char *prefix;
    alk_status status;
} postgres_codes[] = {
#define ALK__POSTGRES_CODE(prefix, name, status) {(prefix), (status)},
#include "store/code_table.h"
#undef ALK__POSTGRES_CODE
};

alk_status alk__code_status_sqlite(int extended_code) {
    for (size_t i = 0; i < sizeof(sqlite_codes) / sizeof(*sqlite_codes); i++) {
        int code = sqlite_codes[i].code;
        if (code == extended_code || code == (extended_code & 0xFF))
            return sqlite_codes[i].status;
    }
    return ALK_FAILED;
}

alk_status alk__code_status_postgres(const char *sqlstate) {
    for (size_t i = 0; i < sizeof(postgres_codes) / sizeof(*postgres_codes); i++) {
        const char *prefix = postgres_codes[i].prefix;
        if (strncmp(sqlstate, prefix, strlen(prefix)) == 0)
            return postgres_codes[i].status;
    }
    return ALK_FAILED;
}
