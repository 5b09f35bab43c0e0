/* core/policy.c: the words of schedules' policies, as tables and callers have them. */
#include "core/policy.h"

#include "base/error.h"

struct word {
    int value;
    const char *text;
};

#define WORD(name, text_) {name, text_},
static const struct word catchups[] = {ALK_CATCHUP_MAP(WORD){0, NULL}};
static const struct word overlaps[] = {ALK_OVERLAP_MAP(WORD){0, NULL}};
static const struct word gaps[] = {ALK_DST_GAP_MAP(WORD){0, NULL}};
static const struct word folds[] = {ALK_DST_FOLD_MAP(WORD){0, NULL}};
static const struct word actions[] = {ALK_APPLY_MAP(WORD){0, NULL}};
#undef WORD

static const char *text_of(const struct word *words, int value) {
    while (words->text != NULL && words->value != value)
        words++;
    return words->text != NULL ? words->text : "";
}

const char *alk_catchup_text(alk_catchup catchup) {
    return text_of(catchups, (int)catchup);
}

const char *alk_overlap_text(alk_overlap overlap) {
    return text_of(overlaps, (int)overlap);
}

const char *alk_dst_gap_text(alk_dst_gap gap) {
    return text_of(gaps, (int)gap);
}

const char *alk_dst_fold_text(alk_dst_fold fold) {
    return text_of(folds, (int)fold);
}

const char *alk_apply_action_text(alk_apply_action action) {
    return text_of(actions, (int)action);
}

static alk_status value_of(const char *what, const struct word *words, struct alk__text text,
                           int *ret_value, alk_error *error) {
    while (words->text != NULL && !alk__text_is(text, words->text))
        words++;
    if (words->text == NULL)
        return alk__fail(error, ALK_INVALID, "'%s' is no %s", alk__excerpt_of(text).text, what);
    *ret_value = words->value;
    return ALK_OK;
}

alk_status alk__policy_read(const struct alk__row_schedule *row, struct alk__policy *ret_policy,
                            alk_error *error) {
    int catchup = 0, overlap = 0, gap = 0, fold = 0;

    alk_status status = value_of("catchup", catchups, row->catchup, &catchup, error);
    if (status == ALK_OK)
        status = value_of("overlap", overlaps, row->overlap, &overlap, error);
    if (status == ALK_OK)
        status = value_of("dst_gap", gaps, row->dst_gap, &gap, error);
    if (status == ALK_OK)
        status = value_of("dst_fold", folds, row->dst_fold, &fold, error);
    if (status == ALK_OK)
        *ret_policy = (struct alk__policy){(alk_catchup)catchup, (alk_overlap)overlap,
                                           (alk_dst_gap)gap, (alk_dst_fold)fold};
    return status;
}
