/* store/rows.c: the decoder that fills row structs from what a driver hands over (row_types.c has
 * their columns). A value of the wrong type never hides its row: the row says what cannot be read
 * (S9). */
#include "store/rows.h"

#include <string.h>

#include "base/error.h"
#include "store/driver.h"

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

static size_t column_count(const struct alk__row_type *type) {
    size_t count = 0;

    while (type->columns != NULL && type->columns[count].name != NULL)
        count++;
    return count;
}

static bool grow(struct alk__rows *rows, size_t capacity) {
    void *items = alk__realloc(rows->items, capacity * rows->row_size);

    if (items == NULL)
        return false;
    rows->items = items;
    rows->capacity = capacity;
    return true;
}

alk_status alk__rows_start(struct alk__rows *rows, const struct alk__row_type *type,
                           size_t expected, alk_error *error) {
    alk__rows_free(rows);
    rows->row_size = type->size;
    if (type->columns == NULL || expected == 0 || grow(rows, expected))
        return ALK_OK;
    return alk__nomem(error);
}

static void *next_item(struct alk__rows *rows) {
    if (rows->count == rows->capacity && !grow(rows, rows->count == 0 ? 4 : 2 * rows->count))
        return NULL;
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
