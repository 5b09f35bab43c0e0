/* base/status.c: what the tables in <alkstore/base.h> say about a status and a phase, and the
 * version. */
#include <alkstore/base.h>

static const struct row {
    alk_status status;
    alk_class status_class;
    const char *name;
    const char *text;
} rows[] = {
#define ROW(name, number, class_, text) {name, class_, #name, text},
    ALK_STATUS_MAP(ROW)
#undef ROW
};

static const char *const phases[] = {
#define TEXT(name, text) text,
    ALK_PHASE_MAP(TEXT)
#undef TEXT
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* NULL for a number that is no status. */
static const struct row *find(alk_status status) {
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].status == status)
            return &rows[i];
    return NULL;
}

alk_class alk_status_class(alk_status status) {
    const struct row *row = find(status);

    if (row != NULL)
        return row->status_class;
    return status < 0 ? ALK_CLASS_PERMANENT : ALK_CLASS_NONE;
}

const char *alk_status_text(alk_status status) {
    const struct row *row = find(status);

    return row == NULL ? "unknown status" : row->text;
}

const char *alk_status_name(alk_status status) {
    const struct row *row = find(status);

    return row == NULL ? "ALK_UNKNOWN" : row->name;
}

const char *alk_phase_text(alk_phase phase) {
    return (size_t)phase < COUNT(phases) ? phases[phase] : "";
}

const char *alk_version(void) {
    return ALK_VERSION;
}
