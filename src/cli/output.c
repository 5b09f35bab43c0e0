/* cli/output.c: rows as tables and as JSON. */
#include "cli/output.h"

#include <libsmartcols.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"

/* "in 5h", "3d4h ago", "now" */
static void format_age(int64_t us, int64_t now_us, char *text, size_t size) {
    static const int64_t units[] = {7 * ALK__DAY, ALK__DAY, ALK__HOUR, ALK__MINUTE, ALK__SECOND};
    char age[ALK__DURATION_BYTES];
    int64_t left = us > now_us ? us - now_us : now_us - us;
    int64_t unit = ALK__SECOND;

    for (size_t i = 0; i < ALK__COUNT(units); i++) {
        if (left >= units[i]) { /* at most two parts: 3d4h, not 3d4h12m7s */
            unit = units[i < ALK__COUNT(units) - 1 ? i + 1 : i];
            break;
        }
    }
    alk__duration_format(left / unit * unit, age, sizeof(age));
    if (left < ALK__SECOND)
        snprintf(text, size, "now");
    else
        snprintf(text, size, us > now_us ? "in %s" : "%s ago", age);
}

void alk__time_with_age(int64_t us, int64_t now_us, char *text, size_t size) {
    char time[ALK__TIME_BYTES], age[ALK__AGE_BYTES];

    alk__time_format(us / ALK__SECOND * ALK__SECOND, time, sizeof(time));
    format_age(us, now_us, age, sizeof(age));
    snprintf(text, size, "%s (%.40s)", time, age);
}

/* ---- one field ---- */

static const void *field_of(const struct alk__listing *rows, size_t row,
                            const struct alk__column *column) {
    return (const char *)rows->rows + row * rows->row_bytes + column->offset;
}

static const char *text_of(const struct alk__listing *rows, size_t row,
                           const struct alk__column *column) {
    const char *text;

    if (column->text_of != NULL)
        return column->text_of((const char *)rows->rows + row * rows->row_bytes);
    text = *(const char *const *)field_of(rows, row, column);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void add_to_record(struct alk__record *record, const struct alk__listing *rows, size_t row,
                          const struct alk__column *column) {
    const void *field = field_of(rows, row, column);
    const char *name = column->name;

    switch (column->kind) {
    case ALK__COLUMN_TEXT:
    case ALK__COLUMN_STATE:
        alk__record_text(record, name, text_of(rows, row, column));
        return;
    case ALK__COLUMN_VALUE:
        alk__record_value(record, name,
                          text_of(rows, row, column) ? text_of(rows, row, column) : "null");
        return;
    case ALK__COLUMN_INTEGER:
        alk__record_number(record, name, *(const int64_t *)field);
        return;
    case ALK__COLUMN_INT:
        alk__record_number(record, name, *(const int *)field);
        return;
    case ALK__COLUMN_FLAG:
        alk__record_flag(record, name, *(const bool *)field);
        return;
    case ALK__COLUMN_TIME:
        alk__record_time(record, name, *(const int64_t *)field);
        return;
    case ALK__COLUMN_COUNT:
    case ALK__COLUMN_DURATION: {
        int64_t number = *(const int64_t *)field;
        bool is_null = number == (column->kind == ALK__COLUMN_COUNT ? 0 : ALK_NO_TIME);

        if (is_null)
            alk__record_text(record, name, NULL);
        else
            alk__record_number(record, name, number);
        return;
    }
    }
}

/* What people see of a field; NULL when it is not there. number and text are room for it. */
static const char *shown(const struct alk__listing *rows, size_t row,
                         const struct alk__column *column, char *room, size_t size) {
    const void *field = field_of(rows, row, column);
    int64_t number = 0;

    switch (column->kind) {
    case ALK__COLUMN_TEXT:
    case ALK__COLUMN_STATE:
    case ALK__COLUMN_VALUE:
        return text_of(rows, row, column);
    case ALK__COLUMN_FLAG:
        return *(const bool *)field ? "yes" : NULL;
    case ALK__COLUMN_INT:
        snprintf(room, size, "%d", *(const int *)field);
        return room;
    case ALK__COLUMN_INTEGER:
    case ALK__COLUMN_COUNT:
        number = *(const int64_t *)field;
        snprintf(room, size, "%lld", (long long)number);
        return number != 0 || column->kind == ALK__COLUMN_INTEGER ? room : NULL;
    case ALK__COLUMN_TIME:
        number = *(const int64_t *)field;
        if (number == ALK_NO_TIME)
            return NULL;
        if (rows->is_narrow)
            format_age(number, rows->now_us, room, size);
        else
            alk__time_with_age(number, rows->now_us, room, size);
        return room;
    case ALK__COLUMN_DURATION:
        number = *(const int64_t *)field;
        if (number == ALK_NO_TIME)
            return NULL;
        alk__duration_format(number, room, size);
        return room;
    }
    return NULL;
}

/* ---- JSON ---- */

static void print_json(const struct alk__listing *rows, size_t row) {
    struct alk__record record;

    alk__record_start(&record);
    for (size_t i = 0; i < rows->column_count; i++)
        add_to_record(&record, rows, row, &rows->columns[i]);
    alk__record_end(&record);
}

/* ---- tables ---- */

static bool is_coloured(void) {
    const char *refused = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && (refused == NULL || refused[0] == '\0');
}

static const char *colour_of(const char *state) {
    static const char *const colours[][2] = {
        {"dead", "red"},    {"quarantined", "red"}, {"error", "red"},     {"running", "green"},
        {"fired", "green"}, {"missed", "yellow"},   {"paused", "yellow"},
    };

    for (size_t i = 0; i < ALK__COUNT(colours); i++) {
        if (strcmp(colours[i][0], state) == 0)
            return colours[i][1];
    }
    return NULL;
}

/* A table is as wide as its text where nobody sees it on a terminal. */
static struct libscols_table *new_table(void) {
    struct libscols_table *table = scols_new_table();

    if (table == NULL)
        return NULL;
    scols_table_enable_colors(table, is_coloured());
    if (!isatty(STDOUT_FILENO))
        scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    return table;
}

/* Numbers stand to the right. Of what is still too wide for a terminal free text is cut: half a
 * time says nothing. */
static int flags_of(const struct alk__column *column) {
    switch (column->kind) {
    case ALK__COLUMN_INTEGER:
    case ALK__COLUMN_INT:
    case ALK__COLUMN_COUNT:
        return SCOLS_FL_RIGHT;
    case ALK__COLUMN_TEXT:
    case ALK__COLUMN_VALUE:
        return SCOLS_FL_TRUNC;
    case ALK__COLUMN_STATE:
    case ALK__COLUMN_FLAG:
    case ALK__COLUMN_TIME:
    case ALK__COLUMN_DURATION:
        return 0;
    }
    return 0;
}

/* People see a duration with its units: its name needs none (lateness_us: lateness). */
static const char *title_of(const struct alk__column *column, char *room, size_t size) {
    size_t length = strlen(column->name) - (column->kind == ALK__COLUMN_DURATION ? 3 : 0);

    snprintf(room, size, "%.*s", (int)length, column->name);
    return room;
}

static size_t width_of(const char *text) {
    size_t count = mbstowcs(NULL, text, 0);

    return count != (size_t)-1 ? count : strlen(text);
}

/* How wide a column is with its title; 0 when none of its fields is there. */
static size_t column_width(const struct alk__listing *rows, const struct alk__column *column) {
    char room[ALK__AGE_BYTES];
    size_t most = 0;

    for (size_t row = 0; row < rows->count; row++) {
        const char *text = shown(rows, row, column, room, sizeof(room));
        size_t width = text != NULL ? width_of(text) : 0;

        if (text != NULL && most == 0)
            most = width_of(title_of(column, room, sizeof(room)));
        most = width > most ? width : most;
    }
    return most;
}

/* Whether the table is wider than the terminal; without one there is no limit. */
static bool is_too_wide(const struct alk__listing *rows, size_t limit) {
    size_t total = 0;

    for (size_t i = 0; i < rows->column_count; i++) {
        const struct alk__column *column = &rows->columns[i];
        size_t width = column->is_listed ? column_width(rows, column) : 0;

        total += width > 0 ? width + 1 : 0;
    }
    return total > limit + 1;
}

static bool set_cell(struct libscols_line *line, size_t place, const struct alk__column *column,
                     const char *text) {
    if (scols_line_set_data(line, place, text != NULL ? text : "") != 0)
        return false;
    if (text != NULL && column->kind == ALK__COLUMN_STATE && colour_of(text) != NULL)
        scols_cell_set_color(scols_line_get_cell(line, place), colour_of(text));
    return true;
}

static bool fill_table(struct libscols_table *table, const struct alk__listing *all) {
    struct alk__listing narrow = *all;
    const struct alk__listing *rows = &narrow;
    const struct alk__column *used[64];
    size_t count = 0;

    narrow.is_narrow = isatty(STDOUT_FILENO) && is_too_wide(all, scols_table_get_termwidth(table));

    for (size_t i = 0; i < rows->column_count && count < ALK__COUNT(used); i++) {
        const struct alk__column *column = &rows->columns[i];
        char title[ALK__AGE_BYTES];

        if (!column->is_listed || column_width(rows, column) == 0)
            continue;
        if (scols_table_new_column(table, title_of(column, title, sizeof(title)), 0.1,
                                   flags_of(column)) == NULL)
            return false;
        used[count++] = column;
    }
    for (size_t row = 0; row < rows->count; row++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        char room[ALK__AGE_BYTES];

        for (size_t i = 0; i < count; i++) {
            if (line == NULL ||
                !set_cell(line, i, used[i], shown(rows, row, used[i], room, sizeof(room))))
                return false;
        }
    }
    return true;
}

static bool fill_record(struct libscols_table *table, const struct alk__listing *rows) {
    scols_table_enable_noheadings(table, 1);
    if (scols_table_new_column(table, "name", 0, 0) == NULL ||
        scols_table_new_column(table, "value", 0, SCOLS_FL_WRAP) == NULL)
        return false;
    for (size_t i = 0; i < rows->column_count; i++) {
        const struct alk__column *column = &rows->columns[i];
        char room[ALK__AGE_BYTES], title[ALK__AGE_BYTES];
        const char *text = shown(rows, 0, column, room, sizeof(room));
        struct libscols_line *line;

        if (text == NULL)
            continue;
        line = scols_table_new_line(table, NULL);
        if (line == NULL ||
            scols_line_set_data(line, 0, title_of(column, title, sizeof(title))) != 0 ||
            !set_cell(line, 1, column, text))
            return false;
    }
    return true;
}

static alk_status print_table(const struct alk__listing *rows,
                              bool (*fill)(struct libscols_table *, const struct alk__listing *),
                              alk_error *error) {
    struct libscols_table *table = new_table();
    bool is_printed = table != NULL && fill(table, rows) && scols_print_table(table) == 0;

    scols_unref_table(table);
    return is_printed ? ALK_OK : alk__nomem(error);
}

alk_status alk__print_list(const struct alk__listing *rows, bool is_json, alk_error *error) {
    if (rows->count == 0)
        return ALK_OK;
    if (!is_json)
        return print_table(rows, fill_table, error);
    for (size_t row = 0; row < rows->count; row++)
        print_json(rows, row);
    return ALK_OK;
}

alk_status alk__print_one(const struct alk__listing *rows, bool is_json, alk_error *error) {
    if (!is_json)
        return print_table(rows, fill_record, error);
    print_json(rows, 0);
    return ALK_OK;
}
