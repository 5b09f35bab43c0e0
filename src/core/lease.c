/* core/lease.c: leases: a name held by one owner until a time, with a fence that only grows.
 * Stands on the store; the loops stand on it. The database's clock rules everywhere. */
#include "core/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/plan.h"
#include "store/run.h"

/* Held now. An end more than two spans ahead was written by a clock that ran ahead: nobody waits
 * that long (lease_acquire.sql says the same). */
static bool is_held(const struct alk__row_lease *row) {
    return row->owner.bytes != NULL && row->expires_at > row->now &&
           row->expires_at <= alk__add_us(row->now, alk__add_us(row->ttl, row->ttl));
}

static void copy_text(char *to, size_t size, struct alk__text text) {
    size_t length = text.length < size ? text.length : size - 1;

    if (text.bytes != NULL)
        memcpy(to, text.bytes, length);
    to[text.bytes == NULL ? 0 : length] = '\0';
}

static void fill(const struct alk__row_lease *row, alk_lease *ret_lease) {
    *ret_lease = (alk_lease){.fence = row->fence,
                             .ttl_us = row->ttl,
                             .acquired_at_us = row->acquired_at,
                             .expires_at_us = row->expires_at};
    copy_text(ret_lease->name, sizeof(ret_lease->name), row->name);
    copy_text(ret_lease->owner, sizeof(ret_lease->owner), row->owner);
}

/* The only row of rows, NULL when there is none; a row that cannot be read is an error that names
 * it (S9). */
static alk_status only_row(const struct alk__rows *rows, const char *name,
                           struct alk__row_lease **ret_row, alk_error *error) {
    *ret_row = NULL;
    if (rows->count == 0)
        return ALK_OK;
    struct alk__row_lease *row = ALK__ROW(rows, alk__row_lease, 0);
    if (row->row.unreadable != NULL)
        return alk__fail(error, ALK_UNREADABLE, "lease '%s': %s", name, row->row.unreadable);
    *ret_row = row;
    return ALK_OK;
}

/* Reads who holds the lease: ALK_OK, ALK_ABSENT. */
static alk_status look(alk_conn *conn, const char *name, alk_lease *ret_lease, alk_error *error) {
    struct alk__rows rows = {0};
    struct alk__row_lease *row = NULL;

    alk_status st = alk__do(conn, ALK__LEASE_GET, &rows, error, ALK__Z(name));
    if (st >= 0)
        st = only_row(&rows, name, &row, error);
    if (st >= 0)
        st = row != NULL && is_held(row) ? ALK_OK : ALK_ABSENT;
    if (st == ALK_OK)
        fill(row, ret_lease);
    alk__rows_free(&rows);
    return st;
}

static alk_status check(const char *name, const char *owner, int64_t ttl_us, alk_error *error) {
    alk_status st = alk__name_check("lease", name, error);

    if (st >= 0)
        st = alk__name_check("owner", owner, error);
    if (st >= 0 && (ttl_us <= 0 || ttl_us > 36500 * ALK__DAY))
        st = alk__fail(error, ALK_INVALID,
                       "the time to live of lease '%s' is not between 1us and 100 years", name);
    return st;
}

static alk_status take(alk_conn *conn, const char *name, const char *owner, int64_t ttl_us,
                       alk_lease *ret_lease, alk_error *error) {
    struct alk__rows rows = {0};
    struct alk__row_lease *row = NULL;

    alk_status st = alk__do(conn, ALK__LEASE_ACQUIRE, &rows, error, ALK__Z(name), ALK__Z(owner),
                            ALK__D(ttl_us));
    if (st >= 0)
        st = only_row(&rows, name, &row, error);
    if (st >= 0 && row == NULL)
        st = ALK_HELD;
    if (st == ALK_OK)
        fill(row, ret_lease);
    alk__rows_free(&rows);
    return st;
}

/* Looks before it writes: a standby that asks every few seconds costs the database no write.
 * Between the two others may come and go; the last word is the one statement that takes. */
alk_status alk_lease_acquire(alk_conn *conn, const char *name, const char *owner, int64_t ttl_us,
                             alk_lease *ret_lease, alk_error *error) {
    char whole[sizeof(ret_lease->owner)];

    alk_status st = check(name, owner, ttl_us, error);
    if (st < 0)
        return st;
    snprintf(whole, sizeof(whole), "%s/%016" PRIx64, owner,
             alk__random_bits(alk__store_random(alk__conn_store(conn))));
    for (;;) {
        st = look(conn, name, ret_lease, error);
        if (st == ALK_OK)
            return ALK_HELD;
        if (st == ALK_ABSENT)
            st = take(conn, name, whole, ttl_us, ret_lease, error);
        if (st < 0) {
            alk__error_set_subject(error, name);
            return alk__wrap(error, st, "acquire lease '%s'", name);
        }
        if (st != ALK_HELD)
            return st;
    }
}

/* What a renewal brought back: the new end, or the loss. */
static alk_status renewed(const struct alk__rows *rows, alk_lease *lease, alk_error *error) {
    if (rows->count == 0) {
        alk__fail(error, ALK_LOST, "lease '%s' is no longer held by '%s' under fence %" PRId64,
                  lease->name, lease->owner, lease->fence);
        alk__error_set_subject(error, lease->name);
        return ALK_LOST;
    }
    const struct alk__row_renewed *row = ALK__ROW(rows, alk__row_renewed, 0);
    if (row->row.unreadable != NULL)
        return alk__fail(error, ALK_UNREADABLE, "lease '%s': %s", lease->name, row->row.unreadable);
    lease->expires_at_us = row->expires_at;
    return ALK_OK;
}

alk_status alk_lease_renew(alk_conn *conn, alk_lease *lease, alk_error *error) {
    struct alk__rows rows = {0};

    alk_status st = alk__do(conn, ALK__LEASE_RENEW, &rows, error, ALK__Z(lease->name),
                            ALK__Z(lease->owner), ALK__I(lease->fence));
    if (st >= 0)
        st = renewed(&rows, lease, error);
    alk__rows_free(&rows);
    return st < 0 ? alk__wrap(error, st, "renew lease") : st;
}

alk_status alk__lease_renew_and_due(alk_conn *conn, alk_lease *lease, int64_t *ret_next_due_us,
                                    int64_t *ret_now_us, int64_t *ret_behind_us, alk_error *error) {
    const struct alk__value renew[] = {ALK__Z(lease->name), ALK__Z(lease->owner),
                                       ALK__I(lease->fence)};
    const struct alk__value soonest[] = {ALK__I(ALK__SPEC_VERSION)};
    struct alk__rows lease_rows = {0};
    struct alk__rows due_rows = {0};
    const struct alk__call calls[] = {
        {ALK__LEASE_RENEW, renew, 3, &lease_rows},
        {ALK__SCHEDULE_SOONEST, soonest, 1, &due_rows},
    };

    alk_status st = alk__run_all(conn, calls, 2, NULL, error);
    if (st >= 0)
        st = renewed(&lease_rows, lease, error);
    if (st >= 0) {
        const struct alk__row_due *due = ALK__ROW(&due_rows, alk__row_due, 0);
        *ret_next_due_us = due->next_due;
        *ret_now_us = due->now;
        const struct alk__row_renewed *row = ALK__ROW(&lease_rows, alk__row_renewed, 0);
        *ret_behind_us = row->high_water - row->now;
    }
    alk__rows_free(&lease_rows);
    alk__rows_free(&due_rows);
    return st < 0 ? alk__wrap(error, st, "renew lease") : st;
}

static alk_status release(alk_conn *conn, void *context, alk_error *error) {
    const alk_lease *lease = context;
    struct alk__rows rows = {0};

    alk_status st = alk__do(conn, ALK__LEASE_RELEASE, &rows, error, ALK__Z(lease->name),
                            ALK__Z(lease->owner), ALK__I(lease->fence));
    if (st >= 0)
        st = rows.count == 0 ? ALK_ABSENT : alk__wake_others(conn, ALK__TOPIC_LEASE, error);
    alk__rows_free(&rows);
    return st;
}

alk_status alk_lease_release(alk_conn *conn, const alk_lease *lease, alk_error *error) {
    alk_lease own = *lease;
    alk_status st = alk__atomic(conn, release, &own, error);

    return st < 0 ? alk__wrap(error, st, "release lease '%s'", lease->name) : st;
}

alk_status alk_lease_get(alk_conn *conn, const char *name, alk_lease *ret_lease, alk_error *error) {
    alk_status st = alk__name_check("lease", name, error);

    return st < 0 ? st : look(conn, name, ret_lease, error);
}

struct breaking {
    const char *name;
    alk_lease was;
};

static alk_status break_it(alk_conn *conn, void *context, alk_error *error) {
    struct breaking *breaking = context;
    struct alk__rows rows = {0};
    struct alk__row_lease *row = NULL;

    alk_status st = alk__do(conn, ALK__LEASE_BREAK, &rows, error, ALK__Z(breaking->name));
    if (st >= 0)
        st = only_row(&rows, breaking->name, &row, error);
    if (st >= 0)
        st = row != NULL && is_held(row) ? ALK_OK : ALK_ABSENT;
    if (st == ALK_OK) {
        fill(row, &breaking->was);
        st = alk__wake_others(conn, ALK__TOPIC_LEASE, error);
    }
    alk__rows_free(&rows);
    return st;
}

alk_status alk_lease_break(alk_conn *conn, const char *name, alk_lease *ret_lease,
                           alk_error *error) {
    struct breaking breaking = {.name = name};

    alk_status st = alk__name_check("lease", name, error);
    if (st < 0)
        return st;
    st = alk__atomic(conn, break_it, &breaking, error);
    if (st < 0)
        return alk__wrap(error, st, "break lease '%s'", name);
    if (st == ALK_OK && ret_lease != NULL)
        *ret_lease = breaking.was;
    return st;
}

/* Rows that cannot be read are shown, their owner saying why (S9). */
static void list_row(const struct alk__row_lease *row, alk_lease_list *list) {
    if (row->row.unreadable == NULL && !is_held(row))
        return;
    alk_lease *lease = &list->leases[list->count++];
    fill(row, lease);
    if (row->row.unreadable != NULL)
        snprintf(lease->owner, sizeof(lease->owner), "(unreadable: %s)", row->row.unreadable);
}

alk_status alk_lease_list_get(alk_conn *conn, alk_lease_list *ret_list, alk_error *error) {
    struct alk__rows rows = {0};
    alk_lease_list list = {0};

    alk_status st = alk__run(conn, ALK__LEASE_LIST, NULL, 0, &rows, error);
    if (st >= 0)
        st = alk__db_now(conn, &list.now_us, error);
    if (st >= 0) {
        list.memory = list.leases = alk__alloc((rows.count + 1) * sizeof(*list.leases));
        if (list.leases == NULL)
            st = alk__nomem(error);
    }
    if (st >= 0) {
        for (size_t i = 0; i < rows.count; i++)
            list_row(ALK__ROW(&rows, alk__row_lease, i), &list);
        *ret_list = list;
    }
    alk__rows_free(&rows);
    return st < 0 ? alk__wrap(error, st, "list leases") : st;
}

void alk_lease_list_free(alk_lease_list *list) {
    if (list == NULL)
        return;
    alk__free(list->memory);
    *list = (alk_lease_list){0};
}
