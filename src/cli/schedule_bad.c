/* cli/schedule_bad.c: `alk schedule list --bad`: goes over all schedules, page by page, and keeps
 * those that need somebody. */
#include "base/arena.h"
#include "base/error.h"
#include "cli/schedule.h"

#define PAGE 1000
#define END_US INT64_C(7258118400000000) /* 2200-01-01: no boundary is so late */

/* The rows that were found, and the pages that they live in. */
struct found {
    alk_schedule_row *rows;
    alk_schedule_list *pages;
    size_t count;
    size_t page_count;
    size_t limit;
    int64_t now_us;
};

static bool is_bad(const alk_schedule_row *schedule) {
    bool is_due_never = schedule->next_fire_at_us == ALK_NO_TIME
                            ? schedule->done_at_us == ALK_NO_TIME
                            : schedule->next_fire_at_us >= END_US;

    return schedule->unreadable != NULL || schedule->quarantined_at_us != ALK_NO_TIME ||
           is_due_never;
}

/* Where the next page begins. A row whose name cannot be read is no such place; where there are
 * only such rows, there is no next page. */
static size_t end_of(const alk_schedule_list *page) {
    size_t end = page->count;

    while (end > 0 && page->schedules[end - 1].name[0] == '\0')
        end--;
    return end;
}

/* Keeps page where there is something bad in it, and frees it where not. */
static void take_page(struct found *found, alk_schedule_list *page, size_t end) {
    size_t before = found->count;

    found->now_us = page->now_us;
    for (size_t i = 0; i < end && found->count < found->limit; i++) {
        if (is_bad(&page->schedules[i]))
            found->rows[found->count++] = page->schedules[i];
    }
    if (found->count > before)
        found->pages[found->page_count++] = *page;
    else
        alk_schedule_list_free(page);
}

static alk_status find(alk_conn *conn, struct found *found, alk_error *error) {
    char after[ALK__NAME_MAX + 1] = "";
    bool has_more = true;

    while (has_more && found->count < found->limit) {
        alk_schedule_list page = {.count = 0};
        alk_status st = alk_schedule_list_get(conn, after, PAGE, &page, error);
        size_t end;

        if (st < 0)
            return st;
        end = end_of(&page);
        has_more = page.count == PAGE && end > 0;
        if (has_more)
            snprintf(after, sizeof(after), "%s", page.schedules[end - 1].name);
        take_page(found, &page, has_more ? end : page.count);
    }
    return ALK_OK;
}

static alk_status print(const struct alk__arguments *arguments, const struct found *found,
                        alk_error *error) {
    struct alk__listing rows = alk__schedule_rows(found->rows, found->count, found->now_us);
    alk_status st = alk__print_list(&rows, arguments->is_json, error);

    alk__say_more(arguments, found->count, found->limit);
    return st;
}

alk_status alk__schedule_list_bad(const struct alk__arguments *arguments, alk_conn *conn, int limit,
                                  alk_error *error) {
    struct found found = {.limit = (size_t)limit};
    alk_status st;

    found.rows = alk__arena_alloc(arguments->memory, found.limit * sizeof(*found.rows));
    found.pages = alk__arena_alloc(arguments->memory, found.limit * sizeof(*found.pages));
    if (found.rows == NULL || found.pages == NULL)
        return alk__nomem(error);
    st = find(conn, &found, error);
    if (st == ALK_OK)
        st = print(arguments, &found, error);
    for (size_t i = 0; i < found.page_count; i++)
        alk_schedule_list_free(&found.pages[i]);
    return st;
}
