/* program/words.c: splitting by shell quoting, without a shell. */
#include "program/words.h"

#include <string.h>

#include "base/error.h"

struct splitter {
    const char *text;
    size_t at;
    const char *separators;
    char *word; /* where the next byte of the word goes */
};

static bool is_between(const struct splitter *splitter) {
    char byte = splitter->text[splitter->at];

    return byte != '\0' &&
           (strchr(" \t", byte) != NULL || strchr(splitter->separators, byte) != NULL);
}

/* Takes what stands between two quotes, the opening one taken already. */
static bool take_quoted(struct splitter *splitter, char quote) {
    const char *text = splitter->text;

    for (; text[splitter->at] != quote; splitter->at++) {
        if (quote == '"' && text[splitter->at] == '\\' && text[splitter->at + 1] != '\0' &&
            strchr("\"\\$`", text[splitter->at + 1]) != NULL)
            splitter->at++;
        if (text[splitter->at] == '\0')
            return false;
        *splitter->word++ = text[splitter->at];
    }
    splitter->at++;
    return true;
}

/* Takes one word up to its end; false when a quote does not end. */
static bool take_word(struct splitter *splitter, size_t *ret_quote_at) {
    while (splitter->text[splitter->at] != '\0' && !is_between(splitter)) {
        char byte = splitter->text[splitter->at++];

        *ret_quote_at = splitter->at;
        if (byte == '\'' || byte == '"') {
            if (!take_quoted(splitter, byte))
                return false;
            continue;
        }
        if (byte == '\\') {
            byte = splitter->text[splitter->at];
            if (byte == '\0')
                return false;
            splitter->at++;
        }
        *splitter->word++ = byte;
    }
    *splitter->word++ = '\0';
    return true;
}

alk_status alk__words_split(struct alk__arena *arena, const char *text, const char *separators,
                            struct alk__words *ret_words, alk_error *error) {
    size_t length = strlen(text);
    /* A word needs a byte and something between it and the next one: never more words than this. */
    struct alk__words words = {alk__arena_alloc(arena, (length / 2 + 2) * sizeof(char *)), 0};
    struct splitter splitter = {text, 0, separators, alk__arena_alloc(arena, length + 2)};
    size_t quote_at = 0;

    if (words.items == NULL || splitter.word == NULL)
        return alk__nomem(error);
    for (;;) {
        while (is_between(&splitter))
            splitter.at++;
        if (text[splitter.at] == '\0')
            break;
        words.items[words.count] = splitter.word;
        if (!take_word(&splitter, &quote_at))
            return alk__fail(error, ALK_INVALID, "the '%c' at column %zu has no end",
                             text[quote_at - 1], quote_at);
        words.count++;
    }
    *ret_words = words;
    return ALK_OK;
}
