/* cli/exit.c: the table of exit codes. */
#include "cli/exit.h"

static const struct {
    alk_status status;
    int code;
    const char *hint; /* what a person may do about it, NULL = the message says it all */
} table[] = {
    {ALK_OK, ALK__EXIT_OK, NULL},
    {ALK_EMPTY, ALK__EXIT_OK, NULL},
    {ALK_DUPLICATE, ALK__EXIT_OK, NULL},
    {ALK_HELD, ALK__EXIT_HELD, NULL},
    {ALK_ABSENT, ALK__EXIT_ABSENT, NULL},
    {ALK_UNCHANGED, ALK__EXIT_OK, NULL},
    {ALK_AGAIN, ALK__EXIT_NO_BASE, NULL},
    {ALK_POOL_TIMEOUT, ALK__EXIT_NO_BASE, NULL},
    {ALK_NOMEM, ALK__EXIT_FAILED, NULL},
    {ALK_FAILED, ALK__EXIT_FAILED, NULL},
    {ALK_NO_STORE, ALK__EXIT_ABSENT, NULL},
    {ALK_TOO_NEW, ALK__EXIT_FAILED, "a newer alk is needed"},
    {ALK_UNREADABLE, ALK__EXIT_FAILED, NULL},
    {ALK_DATA, ALK__EXIT_USAGE, NULL},
    {ALK_LOST, ALK__EXIT_FAILED, NULL},
    {ALK_CLOSED, ALK__EXIT_FAILED, NULL},
    {ALK_USAGE, ALK__EXIT_USAGE, NULL},
    {ALK_INVALID, ALK__EXIT_USAGE, NULL},
};

static size_t find(alk_status status) {
    size_t i = 0;

    while (i < sizeof(table) / sizeof(table[0]) && table[i].status != status)
        i++;
    return i;
}

int alk__exit_code(alk_status status) {
    size_t i = find(status);

    return i < sizeof(table) / sizeof(table[0]) ? table[i].code : ALK__EXIT_FAILED;
}

int alk__exit_report(alk_status status, const alk_error *error) {
    size_t i = find(status);
    const char *hint = i < sizeof(table) / sizeof(table[0]) ? table[i].hint : NULL;
    const char *message = error->message[0] != '\0' ? error->message : alk_status_text(status);

    fflush(stdout); /* what was printed before comes before */
    if (hint != NULL)
        fprintf(stderr, "alk: %s (%s)\n", message, hint);
    else
        fprintf(stderr, "alk: %s\n", message);
    return alk__exit_code(status);
}

void alk__say_warning(const char *warning) {
    if (warning[0] == '\0')
        return;
    fflush(stdout); /* what was printed before comes before */
    fprintf(stderr, "alk: %s\n", warning);
}
