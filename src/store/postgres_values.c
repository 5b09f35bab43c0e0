/* store/postgres_values.c: values in PostgreSQL's binary format, both ways. Binary, because a
 * host's DateStyle or extra_float_digits changes texts, and because it is quicker. Integers are
 * big-endian; times count microseconds from 2000-01-01. */
#include "store/postgres.h"

#include <ctype.h>
#include <endian.h>
#include <string.h>

#include "base/error.h"

/* pg_type's numbers, which never change (src/include/catalog/pg_type.dat). */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_NAME = 19,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_JSON = 114,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_TIMESTAMPTZ = 1184,
    OID_INTERVAL = 1186,
    OID_NUMERIC = 1700
};

struct type {
    char letter;
    Oid oid;
    Oid array_oid;
    size_t bytes; /* 0: a text's length */
};

static const struct type types[] = {
    {ALK__INT, OID_INT8, 1016, 8},         {ALK__BOOL, OID_BOOL, 1000, 1},
    {ALK__STR, OID_TEXT, 1009, 0},         {ALK__JSON, OID_JSON, 199, 0},
    {ALK__TIME, OID_TIMESTAMPTZ, 1185, 8}, {ALK__SPAN, OID_INTERVAL, 1187, 16},
};

static const struct type *type_of(char letter) {
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].letter == tolower((unsigned char)letter))
            return &types[i];
    return NULL;
}

/* ---- parameters ---- */

/* No server takes more in one value. */
#define VALUE_BYTES_MAX ((size_t)0x3FFFFFFF)

/* 2000-01-01 from 1970-01-01, and from there the first and the last time that PostgreSQL knows. */
#define EPOCH_US INT64_C(946684800000000)
#define FIRST_US INT64_C(-211813488000000000)
#define LAST_US INT64_C(9223371331199999999)

/* One scalar, or one element of an array. */
struct element {
    const struct type *type;
    int64_t integer;
    struct alk__text text;
};

static struct element element_of(const struct alk__value *value, const struct type *type,
                                 size_t i) {
    struct element element = {.type = type, .integer = value->integer, .text = value->text};

    if (value->integers != NULL)
        element.integer = value->integers[i];
    if (value->texts != NULL)
        element.text = value->texts[i];
    return element;
}

static bool is_null(const struct element *element) {
    return element->type->bytes == 0 ? element->text.bytes == NULL : element->integer == ALK__NULL;
}

static size_t size_of(const struct element *element) {
    if (is_null(element))
        return 0;
    return element->type->bytes == 0 ? element->text.length : element->type->bytes;
}

static char *put_32(char *at, uint32_t number) {
    uint32_t big = htobe32(number);
    memcpy(at, &big, sizeof(big));
    return at + sizeof(big);
}

static char *put_64(char *at, int64_t number) {
    uint64_t big = htobe64((uint64_t)number);
    memcpy(at, &big, sizeof(big));
    return at + sizeof(big);
}

/* Times that PostgreSQL cannot hold become its infinities. */
static int64_t time_to_server(int64_t us) {
    int64_t time_us = alk__add_us(us, -EPOCH_US);

    if (us == INT64_MAX || time_us > LAST_US)
        return INT64_MAX;
    return time_us < FIRST_US ? INT64_MIN : time_us;
}

static char *put_element(char *at, const struct element *element) {
    switch (element->type->letter) {
    case ALK__BOOL:
        *at = element->integer != 0;
        return at + 1;
    case ALK__INT:
        return put_64(at, element->integer);
    case ALK__TIME:
        return put_64(at, time_to_server(element->integer));
    case ALK__SPAN: /* microseconds, days, months */
        at = put_64(at, element->integer);
        at = put_32(at, 0);
        return put_32(at, 0);
    default:
        if (element->text.length > 0)
            memcpy(at, element->text.bytes, element->text.length);
        return at + element->text.length;
    }
}

/* How many bytes an array takes, VALUE_BYTES_MAX + 1 when too many. */
static size_t array_size(const struct alk__value *value, const struct type *type) {
    size_t size = 20;

    for (size_t i = 0; i < value->count && size <= VALUE_BYTES_MAX; i++) {
        struct element element = element_of(value, type, i);
        size_t more = size_of(&element);
        size = more > VALUE_BYTES_MAX ? VALUE_BYTES_MAX + 1 : size + 4 + more;
    }
    return size > VALUE_BYTES_MAX ? VALUE_BYTES_MAX + 1 : size;
}

/* Dimensions, whether there are nulls, the type, length and first index; then each element with
 * its length, -1 for null. */
static void put_array(char *at, const struct alk__value *value, const struct type *type) {
    at = put_32(at, value->count > 0 ? 1 : 0);
    at = put_32(at, 1);
    at = put_32(at, type->oid);
    at = put_32(at, (uint32_t)value->count);
    at = put_32(at, 1);
    for (size_t i = 0; i < value->count; i++) {
        struct element element = element_of(value, type, i);
        at = put_32(at, is_null(&element) ? UINT32_MAX : (uint32_t)size_of(&element));
        if (!is_null(&element))
            at = put_element(at, &element);
    }
}

static alk_status encode_value(struct alk__arena *arena, const struct alk__value *value, int i,
                               struct alk__parameters *parameters, alk_error *error) {
    const struct type *type = type_of(value->type);
    bool is_array = isupper((unsigned char)value->type) != 0;
    struct element element = {0};
    size_t size;

    parameters->types[i] = is_array ? type->array_oid : type->oid;
    parameters->formats[i] = 1;
    if (!is_array) {
        element = element_of(value, type, 0);
        if (is_null(&element))
            return ALK_OK;
    }
    size = is_array ? array_size(value, type) : size_of(&element);
    if (size > VALUE_BYTES_MAX)
        return alk__fail(error, ALK_DATA, "postgres: parameter %d is longer than 1 GiB", i + 1);

    char *bytes = alk__arena_alloc(arena, size);
    if (bytes == NULL)
        return alk__nomem(error);
    if (is_array)
        put_array(bytes, value, type);
    else
        put_element(bytes, &element);
    parameters->values[i] = bytes;
    parameters->lengths[i] = is_array && value->count == 0 ? 12 : (int)size;
    return ALK_OK;
}

alk_status alk__postgres_encode(struct alk__arena *arena,
                                const struct alk__statement_def *statement,
                                const struct alk__call *call,
                                struct alk__parameters *ret_parameters, alk_error *error) {
    size_t count = call->value_count;
    struct alk__parameters parameters = {
        .count = (int)count,
        .types = alk__arena_alloc(arena, count * sizeof(Oid)),
        .values = alk__arena_alloc(arena, count * sizeof(char *)),
        .lengths = alk__arena_alloc(arena, count * sizeof(int)),
        .formats = alk__arena_alloc(arena, count * sizeof(int)),
    };

    if (parameters.types == NULL || parameters.values == NULL || parameters.lengths == NULL ||
        parameters.formats == NULL)
        return alk__nomem(error);
    if (count != strlen(statement->parameters))
        return alk__fail(error, ALK_USAGE, "%s takes %zu values, not %zu", statement->name,
                         strlen(statement->parameters), count);
    for (size_t i = 0; i < count; i++) {
        if (call->values[i].type != statement->parameters[i])
            return alk__fail(error, ALK_USAGE, "value %zu of %s is '%c', not '%c'", i + 1,
                             statement->name, statement->parameters[i], call->values[i].type);
        alk_status status = encode_value(arena, &call->values[i], (int)i, &parameters, error);
        if (status < 0)
            return status;
    }
    *ret_parameters = parameters;
    return ALK_OK;
}

/* ---- columns ---- */

static struct alk__cell integer(int64_t number) {
    return (struct alk__cell){.kind = ALK__CELL_INT, .integer = number};
}

static struct alk__cell other(const char *what) {
    return (struct alk__cell){.kind = ALK__CELL_OTHER, .what = what};
}

static int16_t get_16(const char *at) {
    uint16_t big;
    memcpy(&big, at, sizeof(big));
    return (int16_t)be16toh(big);
}

static int32_t get_32(const char *at) {
    uint32_t big;
    memcpy(&big, at, sizeof(big));
    return (int32_t)be32toh(big);
}

static int64_t get_64(const char *at) {
    uint64_t big;
    memcpy(&big, at, sizeof(big));
    return (int64_t)be64toh(big);
}

/* The infinities, and times past the range of int64 from 1970, stop at its ends; INT64_MIN
 * itself means null. */
static struct alk__cell time_cell(int64_t server_us) {
    int64_t us = server_us == INT64_MAX ? INT64_MAX : alk__add_us(server_us, EPOCH_US);

    return integer(server_us == INT64_MIN || us == INT64_MIN ? INT64_MIN + 1 : us);
}

/* A day is 24 hours, as PostgreSQL compares them; a month has no length. */
static struct alk__cell span_cell(const char *at) {
    int64_t days_us = get_32(at + 8) * ALK__DAY;

    if (get_32(at + 12) != 0)
        return other("a span of months");
    return integer(alk__add_us(get_64(at), days_us));
}

static struct alk__cell text_cell(const PGresult *result, int row, int column) {
    struct alk__text text = {PQgetvalue(result, row, column),
                             (size_t)PQgetlength(result, row, column)};

    return (struct alk__cell){.kind = ALK__CELL_TEXT, .text = text};
}

struct alk__cell alk__postgres_cell(const PGresult *result, int row, int column) {
    const char *bytes = PQgetvalue(result, row, column);

    if (PQgetisnull(result, row, column))
        return (struct alk__cell){.kind = ALK__CELL_NULL};
    switch (PQftype(result, column)) {
    case OID_INT8:
        return integer(get_64(bytes));
    case OID_INT4:
        return integer(get_32(bytes));
    case OID_INT2:
        return integer(get_16(bytes));
    case OID_BOOL:
        return integer(*bytes != 0);
    case OID_TIMESTAMPTZ:
        return time_cell(get_64(bytes));
    case OID_INTERVAL:
        return span_cell(bytes);
    case OID_TEXT:
    case OID_VARCHAR:
    case OID_BPCHAR:
    case OID_NAME:
    case OID_JSON:
        return text_cell(result, row, column);
    case OID_FLOAT4:
    case OID_FLOAT8:
    case OID_NUMERIC:
        return other("a real number");
    case OID_BYTEA:
        return other("a blob");
    default:
        return other("a value of another type");
    }
}
