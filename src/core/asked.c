/* core/asked.c: an answer for each of many claims. The statements say what they did; only for
 * claims that are missing there a second one asks why. */
#include "core/asked.h"

#include <stdlib.h>

#include "base/error.h"

static int compare(const void *left_, const void *right_) {
    const struct alk__asked *left = left_;
    const struct alk__asked *right = right_;

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->stamp < right->stamp ? -1 : left->stamp > right->stamp;
}

void alk__asked_sort(struct alk__asked *asked, size_t count) {
    qsort(asked, count, sizeof(*asked), compare);
}

struct alk__asked *alk__asked_find(struct alk__asked *asked, size_t count, int64_t id,
                                   int64_t stamp) {
    const struct alk__asked wanted = {.id = id, .stamp = stamp};
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&asked[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < count && compare(&asked[low], &wanted) == 0 && asked[low].is_answered)
        low++;
    return low < count && compare(&asked[low], &wanted) == 0 ? &asked[low] : NULL;
}

void alk__asked_mark(struct alk__asked *asked, size_t count, const struct alk__rows *rows,
                     alk_settle_answer *answers) {
    for (size_t i = 0; i < rows->count; i++) {
        const struct alk__row_settled *row = ALK__ROW(rows, alk__row_settled, i);
        struct alk__asked *one = alk__asked_find(asked, count, row->id, row->stamp);
        if (one == NULL)
            continue;
        one->is_answered = true;
        answers[one->place] = row->is_cancelled == 1 ? ALK_SETTLE_CANCELLED : ALK_SETTLED;
    }
}

static alk_settle_answer answer_of(struct alk__text word) {
    if (alk__text_is(word, "lapsed"))
        return ALK_SETTLE_LAPSED;
    return alk__text_is(word, "locked") ? ALK_SETTLE_LOCKED : ALK_SETTLE_LOST;
}

/* Those without an answer as the arrays of job_why, whose rows come back in the same order. */
struct question {
    size_t count;
    int64_t *ids;
    int64_t *stamps;
    struct alk__text *workers;
    struct alk__asked **about;
};

static bool collect(struct alk__arena *arena, struct alk__asked *asked, size_t count,
                    struct question *question) {
    int64_t *numbers = alk__arena_alloc(arena, 2 * count * sizeof(*numbers));

    question->workers = alk__arena_alloc(arena, count * sizeof(*question->workers));
    question->about = alk__arena_alloc(arena, count * sizeof(struct alk__asked *));
    if (numbers == NULL || question->workers == NULL || question->about == NULL)
        return false;
    question->ids = numbers;
    question->stamps = numbers + count;
    for (size_t i = 0; i < count; i++) {
        if (asked[i].is_answered)
            continue;
        size_t n = question->count++;
        question->ids[n] = asked[i].id;
        question->stamps[n] = asked[i].stamp;
        question->workers[n] = alk__text_of(asked[i].worker);
        question->about[n] = &asked[i];
    }
    return true;
}

static void take_answers(const struct question *question, const struct alk__rows *rows,
                         alk_settle_answer *answers) {
    for (size_t i = 0; i < question->count && i < rows->count; i++)
        answers[question->about[i]->place] = answer_of(ALK__ROW(rows, alk__row_why, i)->answer);
}

alk_status alk__asked_why(alk_conn *conn, struct alk__asked *asked, size_t count, bool is_over,
                          alk_settle_answer *answers, alk_error *error) {
    struct alk__arena arena = {0};
    struct alk__rows rows = {0};
    struct question question = {0};
    alk_status st = ALK_OK;

    for (size_t i = 0; i < count; i++) {
        if (!asked[i].is_answered)
            answers[asked[i].place] = ALK_SETTLE_LOCKED;
    }
    if (!collect(&arena, asked, count, &question))
        st = alk__nomem(error);
    if (st >= 0 && question.count > 0)
        st = alk__do(conn, ALK__JOB_WHY, &rows, error, ALK__IS(question.ids, question.count),
                     ALK__IS(question.stamps, question.count),
                     ALK__SS(question.workers, question.count));
    if (st >= 0)
        take_answers(&question, &rows, answers);
    alk__rows_free(&rows);
    alk__arena_free(&arena);
    if (st < 0 && is_over) {
        alk__error_clear(error);
        st = ALK_OK;
    }
    return st;
}
