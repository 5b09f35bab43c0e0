/* base/json.c: whether a text is JSON (RFC 8259), told in one pass without recursion and without
 * memory of its own; and strings in JSON. What is accepted here, PostgreSQL's json type accepts
 * too. */
#include "base/json.h"

#include <string.h>

#include "base/error.h"

/* What may stand next. */
enum expect { VALUE, ITEM_OR_END, KEY_OR_END, KEY, COMMA_OR_END, NOTHING };

struct reader {
    struct alk__text text;
    size_t at;
    int depth;
    enum expect expect;
    unsigned char
        is_object[(ALK__JSON_DEPTH_MAX + 7) / 8]; /* a bit for each open array or object */
    const char *reason;                           /* why it is not JSON */
    bool is_word; /* what stands there is a string without its quotes */
};

/* The byte to be read next, or 0 at the end: NUL is ruled out before. */
static char peek(const struct reader *reader) {
    return reader->at < reader->text.length ? reader->text.bytes[reader->at] : '\0';
}

static bool take(struct reader *reader, char byte) {
    if (peek(reader) != byte)
        return false;
    reader->at++;
    return true;
}

static bool refuse(struct reader *reader, const char *reason) {
    reader->reason = reason;
    return false;
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_word_byte(char byte) {
    unsigned char letter = (unsigned char)byte;

    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || is_digit(byte) ||
           letter == '_' || letter == '-' || letter >= 0x80;
}

static void skip_blanks(struct reader *reader) {
    while (peek(reader) == ' ' || peek(reader) == '\t' || peek(reader) == '\n' ||
           peek(reader) == '\r')
        reader->at++;
}

static bool in_object(const struct reader *reader) {
    int level = reader->depth - 1;

    return level >= 0 && (reader->is_object[level / 8] >> level % 8 & 1) != 0;
}

static bool refuse_end(struct reader *reader) {
    if (reader->depth > 0)
        return refuse(reader,
                      in_object(reader) ? "an object is not closed" : "an array is not closed");
    return refuse(reader, "a value is missing");
}

static bool take_digits(struct reader *reader) {
    size_t start = reader->at;

    while (is_digit(peek(reader)))
        reader->at++;
    return reader->at > start || refuse(reader, "a digit is missing");
}

static bool read_number(struct reader *reader) {
    take(reader, '-');
    if (take(reader, '0')) {
        if (is_digit(peek(reader)))
            return refuse(reader, "a number does not begin with 0");
    } else if (!take_digits(reader)) {
        return false;
    }
    if (take(reader, '.') && !take_digits(reader))
        return false;
    if (take(reader, 'e') || take(reader, 'E')) {
        if (!take(reader, '+'))
            take(reader, '-');
        return take_digits(reader);
    }
    return true;
}

/* The four hexadecimal digits of \uXXXX; -1 if there are not four. */
static int32_t read_hex(struct reader *reader) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        const char *digit = peek(reader) == '\0' ? NULL : strchr(digits, peek(reader));
        if (digit == NULL)
            return -1;
        unit = unit * 16 + (int32_t)((digit - digits) % 16);
        reader->at++;
    }
    return unit;
}

/* Behind "\u". A character above U+FFFF is written as a high and a low surrogate, and neither
 * stands alone. */
static bool read_unicode(struct reader *reader) {
    size_t start = reader->at - 2;
    int32_t unit = read_hex(reader);

    if (unit < 0)
        return refuse(reader, "four hexadecimal digits follow a \\u");
    if (unit >= 0xD800 && unit <= 0xDBFF && take(reader, '\\') && take(reader, 'u')) {
        int32_t low = read_hex(reader);
        if (low >= 0xDC00 && low <= 0xDFFF)
            return true;
    }
    if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF)) {
        reader->at = start;
        return refuse(reader, unit == 0 ? "no database keeps a \\u0000 in a text"
                                        : "half of a surrogate pair");
    }
    return true;
}

static bool read_escape(struct reader *reader) {
    if (take(reader, 'u'))
        return read_unicode(reader);
    if (peek(reader) == '\0' || strchr("\"\\/bfnrt", peek(reader)) == NULL) {
        reader->at--;
        return refuse(reader, "no such escape");
    }
    reader->at++;
    return true;
}

/* Behind the opening quote. */
static bool read_string(struct reader *reader) {
    size_t start = reader->at - 1;

    while (reader->at < reader->text.length) {
        if (take(reader, '"'))
            return true;
        if (take(reader, '\\')) {
            if (!read_escape(reader))
                return false;
            continue;
        }
        if ((unsigned char)peek(reader) < 0x20)
            return refuse(reader, "a control character in a string is written as an escape");
        reader->at++;
    }
    reader->at = start;
    return refuse(reader, "a string is not closed");
}

/* What stands from here up to the end of the word or, if there is none, what stands there. */
static struct alk__text word_at(const struct reader *reader) {
    size_t end = reader->at;

    while (end < reader->text.length && is_word_byte(reader->text.bytes[end]))
        end++;
    if (end == reader->at)
        end = reader->text.length;
    return (struct alk__text){reader->text.bytes + reader->at, end - reader->at};
}

static bool is_one_of(struct alk__text word, const char *const *words) {
    for (; *words != NULL; words++)
        if (alk__text_is(word, *words))
            return true;
    return false;
}

/* Something that begins no value: says what was probably meant. */
static bool refuse_value(struct reader *reader) {
    static const char *const not_finite[] = {"NaN", "nan", "Infinity", NULL};
    static const char *const misspelt[] = {"True", "False", "None",      "TRUE", "FALSE",
                                           "NULL", "Null",  "undefined", NULL};
    struct alk__text word = word_at(reader);

    switch (peek(reader)) {
    case '\0':
        return refuse_end(reader);
    case '\'':
        return refuse(reader, "strings take double quotes");
    case ',':
        return refuse(reader, "a value is missing before the comma");
    case ']':
    case '}':
        return refuse(reader, "a value is missing before the bracket");
    case '/':
    case '#':
        return refuse(reader, "JSON has no comments");
    case '+':
        return refuse(reader, "a number has no plus sign");
    case '.':
        return refuse(reader, "a number begins with a digit");
    default:
        break;
    }
    if (word.length >= 3 && memcmp(word.bytes, "\xEF\xBB\xBF", 3) == 0)
        return refuse(reader, "no byte order mark stands before JSON");
    if (is_one_of(word, not_finite))
        return refuse(reader, "a number is finite");
    if (is_one_of(word, misspelt))
        return refuse(reader, "the words are true, false and null");
    reader->is_word = is_word_byte(peek(reader));
    return refuse(reader, "no value begins like this");
}

static bool read_word(struct reader *reader) {
    static const char *const words[] = {"true", "false", "null", NULL};
    struct alk__text word = word_at(reader);

    if (!is_one_of(word, words))
        return refuse_value(reader);
    reader->at += word.length;
    return true;
}

static bool open_bracket(struct reader *reader, bool is_object) {
    if (reader->depth == ALK__JSON_DEPTH_MAX) {
        reader->at--;
        return refuse(reader, "nested deeper than 1,000");
    }
    unsigned char bit = (unsigned char)(1U << reader->depth % 8);
    unsigned char *bits = &reader->is_object[reader->depth / 8];
    *bits = (unsigned char)(is_object ? *bits | bit : *bits & ~bit);
    reader->depth++;
    reader->expect = is_object ? KEY_OR_END : ITEM_OR_END;
    return true;
}

static bool close_bracket(struct reader *reader) {
    reader->depth--;
    reader->expect = reader->depth == 0 ? NOTHING : COMMA_OR_END;
    return true;
}

static bool read_value(struct reader *reader) {
    bool is_read;

    if (take(reader, '['))
        return open_bracket(reader, false);
    if (take(reader, '{'))
        return open_bracket(reader, true);
    if (take(reader, '"'))
        is_read = read_string(reader);
    else if (is_digit(peek(reader)) || peek(reader) == '-')
        is_read = read_number(reader);
    else
        is_read = read_word(reader);
    reader->expect = reader->depth == 0 ? NOTHING : COMMA_OR_END;
    return is_read;
}

static bool read_key(struct reader *reader) {
    if (peek(reader) == '\0')
        return refuse_end(reader);
    if (!take(reader, '"'))
        return refuse(reader, "a key is a string in double quotes");
    if (!read_string(reader))
        return false;
    skip_blanks(reader);
    if (!take(reader, ':'))
        return refuse(reader, "a colon follows a key");
    reader->expect = VALUE;
    return true;
}

static bool read_comma(struct reader *reader) {
    bool is_object = in_object(reader);

    if (take(reader, is_object ? '}' : ']'))
        return close_bracket(reader);
    if (peek(reader) == '\0')
        return refuse_end(reader);
    if (!take(reader, ','))
        return refuse(reader,
                      is_object ? "a comma or '}' is missing" : "a comma or ']' is missing");
    reader->expect = is_object ? KEY : VALUE;
    skip_blanks(reader);
    if (peek(reader) == '}' || peek(reader) == ']')
        return refuse(reader, "no comma stands before a closing bracket");
    return true;
}

static bool step(struct reader *reader) {
    switch (reader->expect) {
    case ITEM_OR_END:
        return take(reader, ']') ? close_bracket(reader) : read_value(reader);
    case KEY_OR_END:
        return take(reader, '}') ? close_bracket(reader) : read_key(reader);
    case KEY:
        return read_key(reader);
    case COMMA_OR_END:
        return read_comma(reader);
    case VALUE:
    case NOTHING:
        break;
    }
    return read_value(reader);
}

static bool read_text(struct reader *reader) {
    skip_blanks(reader);
    while (reader->expect != NOTHING) {
        if (!step(reader))
            return false;
        skip_blanks(reader);
    }
    return peek(reader) == '\0' || refuse(reader, "the text goes on after the value");
}

static alk_status fail(const char *what, const struct reader *reader, alk_error *error) {
    struct alk__excerpt shown = alk__excerpt_of(word_at(reader));
    size_t column = reader->at + 1;

    if (shown.text[0] == '\0')
        return alk__fail(error, ALK_INVALID, "%s is not JSON at column %zu: %s", what, column,
                         reader->reason);
    if (reader->is_word)
        return alk__fail(error, ALK_INVALID,
                         "%s is not JSON at column %zu: '%s' (a string is written '\"%s\"')", what,
                         column, shown.text, shown.text);
    return alk__fail(error, ALK_INVALID, "%s is not JSON at column %zu: '%s' (%s)", what, column,
                     shown.text, reader->reason);
}

alk_status alk__json_check(const char *what, struct alk__text text, size_t maximum,
                           alk_error *error) {
    struct reader reader = {.text = text.bytes == NULL ? ALK__TEXT("") : text, .expect = VALUE};
    size_t wrong_at;

    if (text.length > maximum)
        return alk__fail(error, ALK_INVALID, "%s is %s bytes, above the limit of %s", what,
                         alk__number_of(text.length).text, alk__number_of(maximum).text);
    if (!alk__utf8_is_valid(reader.text.bytes, text.length, &wrong_at))
        return alk__fail(error, ALK_INVALID, "%s %s at column %zu", what,
                         reader.text.bytes[wrong_at] == '\0' ? "has a NUL byte" : "is not UTF-8",
                         wrong_at + 1);
    return read_text(&reader) ? ALK_OK : fail(what, &reader, error);
}

bool alk__json_is_object(struct alk__text text) {
    struct reader reader = {.text = text};

    skip_blanks(&reader);
    return peek(&reader) == '{';
}

static void add_escape(struct alk__buffer *buffer, char byte) {
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char written[] = "\"\\bfnrt";
    const char *found = strchr(plain, byte);

    if (found != NULL)
        alk__buffer_addf(buffer, "\\%c", written[found - plain]);
    else
        alk__buffer_addf(buffer, "\\u%04x", (unsigned)(unsigned char)byte);
}

void alk__json_add_string(struct alk__buffer *buffer, struct alk__text text) {
    alk__buffer_add(buffer, "\"", 1);
    for (size_t at = 0, length; at < text.length; at += length) {
        size_t character = alk__utf8_step(text.bytes + at, text.length - at);
        char byte = text.bytes[at];

        length = character > 0 ? character : 1;
        if (character == 0)
            alk__buffer_add_text(buffer, "\xEF\xBF\xBD");
        else if ((unsigned char)byte < 0x20 || byte == '"' || byte == '\\')
            add_escape(buffer, byte);
        else
            alk__buffer_add(buffer, text.bytes + at, character);
    }
    alk__buffer_add(buffer, "\"", 1);
}
