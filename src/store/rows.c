/* store/rows.c: the column tables of the row structs, and the decoder that fills them from what a driver hands over. A value
 * of the wrong type never hides its row: the row says what cannot be read (S9). */
#include "store/rows.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "store/driver.h"

#define COLUMN(type_, row_type, field)                                                             \
    { #field, (type_), false, offsetof(struct row_type, field) }
#define MAYBE(type_, row_type, field)                                                              \
    { #field, (type_), true, offsetof(struct row_type, field) }
#define END                                                                                        \
    { NULL, 0, false, 0 }
#define ROW_TYPE(row_type)                                                                         \
    const struct alk__row_type row_type = {#row_type, sizeof(struct row_type), row_type##_columns}

const struct alk__row_type alk__row_none = {"alk__row_none", sizeof(struct alk__row), NULL};

static const struct alk__column alk__row_number_columns[] = {
    COLUMN(ALK__INT, alk__row_number, number),
    END,
};
ROW_TYPE(alk__row_number);

static const struct alk__column alk__row_meta_columns[] = {
    COLUMN(ALK__INT, alk__row_meta, version),
    COLUMN(ALK__INT, alk__row_meta, oldest),
    COLUMN(ALK__INT, alk__row_meta, epoch),
    END,
};
ROW_TYPE(alk__row_meta);

static const struct alk__column alk__row_lease_columns[] = {
    COLUMN(ALK__STR, alk__row_lease, name),         MAYBE(ALK__STR, alk__row_lease, owner),
    COLUMN(ALK__INT, alk__row_lease, fence),        COLUMN(ALK__SPAN, alk__row_lease, ttl),
    COLUMN(ALK__TIME, alk__row_lease, acquired_at), MAYBE(ALK__TIME, alk__row_lease, expires_at),
    COLUMN(ALK__TIME, alk__row_lease, now),         END,
};
ROW_TYPE(alk__row_lease);

static const struct alk__column alk__row_schedule_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule, id),
    COLUMN(ALK__STR, alk__row_schedule, name),
    COLUMN(ALK__STR, alk__row_schedule, spec),
    MAYBE(ALK__STR, alk__row_schedule, spec_resolved),
    MAYBE(ALK__STR, alk__row_schedule, spec_resolved_from),
    MAYBE(ALK__STR, alk__row_schedule, zone),
    COLUMN(ALK__STR, alk__row_schedule, queue),
    COLUMN(ALK__JSON, alk__row_schedule, payload),
    COLUMN(ALK__INT, alk__row_schedule, priority),
    MAYBE(ALK__INT, alk__row_schedule, max_attempts),
    MAYBE(ALK__SPAN, alk__row_schedule, expires),
    COLUMN(ALK__INT, alk__row_schedule, catchup_max),
    COLUMN(ALK__TIME, alk__row_schedule, anchor_at),
    MAYBE(ALK__TIME, alk__row_schedule, next_fire_at),
    MAYBE(ALK__TIME, alk__row_schedule, last_fire_at),
    COLUMN(ALK__INT, alk__row_schedule, version),
    COLUMN(ALK__TIME, alk__row_schedule, created_at),
    MAYBE(ALK__TIME, alk__row_schedule, paused_at),
    MAYBE(ALK__TIME, alk__row_schedule, done_at),
    MAYBE(ALK__TIME, alk__row_schedule, quarantined_at),
    MAYBE(ALK__TIME, alk__row_schedule, quarantine_from),
    COLUMN(ALK__INT, alk__row_schedule, quarantine_count),
    MAYBE(ALK__STR, alk__row_schedule, last_error),
    COLUMN(ALK__INT, alk__row_schedule, fired_total),
    COLUMN(ALK__INT, alk__row_schedule, missed_total),
    COLUMN(ALK__INT, alk__row_schedule, skipped_total),
    COLUMN(ALK__INT, alk__row_schedule, quarantined_total),
    COLUMN(ALK__TIME, alk__row_schedule, now),
    END,
};
ROW_TYPE(alk__row_schedule);

static const struct alk__column alk__row_schedule_name_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule_name, id),
    COLUMN(ALK__STR, alk__row_schedule_name, name),
    END,
};
ROW_TYPE(alk__row_schedule_name);

static const struct alk__column alk__row_fire_columns[] = {
    COLUMN(ALK__INT, alk__row_fire, schedule_id),
    COLUMN(ALK__TIME, alk__row_fire, fire_at),
    END,
};
ROW_TYPE(alk__row_fire);

static const struct alk__column alk__row_schedule_event_columns[] = {
    COLUMN(ALK__INT, alk__row_schedule_event, id),
    COLUMN(ALK__STR, alk__row_schedule_event, outcome),
    MAYBE(ALK__TIME, alk__row_schedule_event, fire_at),
    MAYBE(ALK__TIME, alk__row_schedule_event, to_at),
    COLUMN(ALK__INT, alk__row_schedule_event, count),
    MAYBE(ALK__INT, alk__row_schedule_event, job_id),
    MAYBE(ALK__SPAN, alk__row_schedule_event, lateness),
    MAYBE(ALK__STR, alk__row_schedule_event, owner),
    MAYBE(ALK__INT, alk__row_schedule_event, fence),
    MAYBE(ALK__STR, alk__row_schedule_event, detail),
    COLUMN(ALK__TIME, alk__row_schedule_event, at),
    COLUMN(ALK__BOOL, alk__row_schedule_event, is_catchup),
    COLUMN(ALK__BOOL, alk__row_schedule_event, is_at_least),
    END,
};
ROW_TYPE(alk__row_schedule_event);

void *alk__row_at(const struct alk__rows *rows, size_t n) {
    return (char *)rows->items + n * rows->row_size;
}

void alk__rows_free(struct alk__rows *rows) {
    if (rows == NULL)
        return;
    alk__free(rows->items);
    alk__arena_free(&rows->arena);
    *rows = (struct alk__rows){0};
}

alk_status alk__rows_start(struct alk__rows *rows, const struct alk__row_type *type,
                           alk_error *error) {
    (void)error;
    alk__rows_free(rows);
    rows->row_size = type->size;
    return ALK_OK;
}

static size_t column_count(const struct alk__row_type *type) {
    size_t count = 0;

    while (type->columns != NULL && type->columns[count].name != NULL)
        count++;
    return count;
}

static void *next_item(struct alk__rows *rows) {
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? 4 : 2 * rows->capacity;
        void *items = alk__realloc(rows->items, capacity * rows->row_size);
        if (items == NULL)
            return NULL;
        rows->items = items;
        rows->capacity = capacity;
    }
    void *item = alk__row_at(rows, rows->count);
    memset(item, 0, rows->row_size);
    return item;
}

static bool is_text_type(char type) {
    return type == ALK__STR || type == ALK__JSON;
}

static const char *type_words(char type) {
    switch (type) {
    case ALK__BOOL:
        return "a boolean";
    case ALK__STR:
    case ALK__JSON:
        return "text";
    case ALK__TIME:
        return "a time";
    case ALK__SPAN:
        return "a span";
    default:
        return "an integer";
    }
}

/* What is in the cell where it is not what the column says, NULL where it is. */
static const char *wrong_content(const struct alk__column *column, const struct alk__cell *cell) {
    switch (cell->kind) {
    case ALK__CELL_NULL:
        return column->may_be_null ? NULL : "null";
    case ALK__CELL_INT:
        if (is_text_type(column->type))
            return "an integer";
        if (cell->integer == ALK__NULL || (column->type == ALK__BOOL && (cell->integer & ~1) != 0))
            return "an integer out of range";
        return NULL;
    case ALK__CELL_TEXT:
        if (!is_text_type(column->type))
            return "text";
        return alk__utf8_is_valid(cell->text.bytes, cell->text.length, NULL)
                   ? NULL
                   : "bytes that are not UTF-8";
    case ALK__CELL_OTHER:
    default:
        return cell->what;
    }
}

/* The first thing that cannot be read is what a row reports. */
static bool note(struct alk__rows *rows, struct alk__row *row, const struct alk__column *column,
                 const char *content) {
    char text[160];

    if (row->unreadable != NULL)
        return true;
    snprintf(text, sizeof(text), "column '%s' holds %s, not %s", column->name, content,
             type_words(column->type));
    row->unreadable = alk__arena_text(&rows->arena, text);
    return row->unreadable != NULL;
}

static bool decode(struct alk__rows *rows, struct alk__row *row, const struct alk__column *column,
                   const struct alk__cell *cell) {
    char *field = (char *)row + column->offset;
    const char *wrong = wrong_content(column, cell);

    if (is_text_type(column->type)) {
        struct alk__text text = {NULL, 0};
        if (wrong == NULL && cell->kind == ALK__CELL_TEXT) {
            text.bytes = alk__arena_copy(&rows->arena, cell->text.bytes, cell->text.length);
            text.length = cell->text.length;
            if (text.bytes == NULL)
                return false;
        }
        memcpy(field, &text, sizeof(text));
    } else {
        int64_t integer = wrong == NULL && cell->kind == ALK__CELL_INT ? cell->integer : ALK__NULL;
        memcpy(field, &integer, sizeof(integer));
    }
    return wrong == NULL || note(rows, row, column, wrong);
}

alk_status alk__rows_add(struct alk__rows *rows, const struct alk__row_type *type,
                         const struct alk__cell *cells, size_t cell_count, alk_error *error) {
    if (type->columns == NULL)
        return ALK_OK;
    if (cell_count != column_count(type))
        return alk__fail(error, ALK_FAILED, "%zu columns came back where '%s' has %zu", cell_count,
                         type->name, column_count(type));

    struct alk__row *row = next_item(rows);
    if (row == NULL)
        return alk__nomem(error);
    for (size_t i = 0; i < cell_count; i++) {
        if (!decode(rows, row, &type->columns[i], &cells[i]))
            return alk__nomem(error);
    }
    rows->count++;
    return ALK_OK;
}
