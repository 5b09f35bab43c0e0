/* program/crontab_name.c: a name for a schedule, from the command it runs. */
#include "program/crontab_name.h"

#include <string.h>

#define NAME_MAX_BYTES 48
#define SEPARATORS " \t;&|()!<>"

/* How long the shell's word at text is: what stands in quotes belongs to it. */
static size_t word_length(const char *text) {
    char quote = '\0';
    size_t length = 0;

    for (; text[length] != '\0'; length++) {
        char byte = text[length];

        if (quote == '\0' && strchr(SEPARATORS, byte) != NULL)
            break;
        if (byte == quote)
            quote = '\0';
        else if (quote == '\0' && (byte == '"' || byte == '\''))
            quote = byte;
    }
    return length;
}

/* Words that come before the command that is meant ("cd /srv && make"). */
static bool is_before(struct alk__text word) {
    static const char *const words[] = {"cd", "test", "["};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (alk__text_is(word, words[i]))
            return true;
    }
    return false;
}

static bool is_kept(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

static bool is_edge(char byte) {
    return byte == '-' || byte == '.';
}

/* What stands behind the last slash of word, made of bytes that a name is made of. */
static void name_of(struct alk__text word, char *name) {
    const char *slash = memrchr(word.bytes, '/', word.length);
    const char *at = slash != NULL ? slash + 1 : word.bytes;
    const char *end = word.bytes + word.length;
    size_t length = 0;

    for (; at < end && length < NAME_MAX_BYTES; at++) {
        char byte = is_kept(*at) ? *at : '-';

        if (length > 0 || !is_edge(byte))
            name[length++] = byte;
    }
    while (length > 0 && is_edge(name[length - 1]))
        length--;
    name[length] = '\0';
}

void alk__crontab_name(const char *command, char name[ALK__CRONTAB_NAME_BYTES]) {
    bool is_start = true;

    for (const char *at = command; *at != '\0';) {
        struct alk__text word = {at, word_length(at)};

        if (word.length == 0) {
            is_start = is_start || strchr(";&|(!", *at) != NULL;
            at++;
            continue;
        }
        at += word.length;
        if (!is_start || memchr(word.bytes, '=', word.length) != NULL)
            continue;
        is_start = false;
        if (is_before(word))
            continue;
        name_of(word, name);
        if (name[0] != '\0')
            return;
        is_start = true;
    }
    snprintf(name, ALK__CRONTAB_NAME_BYTES, "job");
}
