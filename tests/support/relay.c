/* support/relay.c: see relay.h. One thread polls every socket; a lock protects what the test
 * changes meanwhile. */
#include "support/relay.h"

#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAIRS_MAX 64

enum loss { LOSE_NOTHING, CUT_BEFORE, CUT_INSIDE, CUT_BEHIND, HOLD_BEHIND };

struct pair {
    int client;
    int server;
    enum loss loss; /* what becomes of the server's next answer */
};

struct relay {
    pthread_t thread;
    pthread_mutex_t lock;
    int bell; /* wakes the thread */
    int door;
    struct sockaddr_un server;
    char folder[64];
    char url[512];
    struct pair pairs[PAIRS_MAX];
    int pair_count;
    int taken;
    int said;
    bool is_held;
    bool must_cut;
    bool must_end;
    enum loss loss;
    char words[64];
};

static bool address(struct sockaddr_un *ret_address, const char *folder, const char *port) {
    int length;

    memset(ret_address, 0, sizeof(*ret_address));
    ret_address->sun_family = AF_UNIX;
    length = snprintf(ret_address->sun_path, sizeof(ret_address->sun_path), "%s/.s.PGSQL.%s",
                      folder, port);
    return length > 0 && (size_t)length < sizeof(ret_address->sun_path);
}

static void cut_pair(struct relay *relay, int i) {
    close(relay->pairs[i].client);
    close(relay->pairs[i].server);
    relay->pairs[i] = relay->pairs[--relay->pair_count];
}

static void take(struct relay *relay) {
    struct pair *pair = &relay->pairs[relay->pair_count];

    pair->client = accept(relay->door, NULL, NULL);
    if (pair->client < 0)
        return;
    pair->server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pair->loss = LOSE_NOTHING;
    relay->taken++;
    if (relay->pair_count == PAIRS_MAX - 1 ||
        connect(pair->server, (struct sockaddr *)&relay->server, sizeof(relay->server)) != 0) {
        close(pair->client);
        close(pair->server);
        return;
    }
    relay->pair_count++;
}

static bool write_all(int fd, const char *bytes, ssize_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, (size_t)length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= sent;
    }
    return true;
}

static bool says(const char *bytes, ssize_t length, const char *words) {
    return memmem(bytes, (size_t)length, words, strlen(words)) != NULL;
}

/* False: the pair is to be cut. */
static bool from_client(struct relay *relay, struct pair *pair, const char *bytes, ssize_t length) {
    if (relay->is_held)
        return true;
    if (relay->loss != LOSE_NOTHING && says(bytes, length, relay->words)) {
        pair->loss = relay->loss;
        relay->loss = LOSE_NOTHING;
    }
    return pair->loss != CUT_BEFORE && write_all(pair->server, bytes, length);
}

static bool from_server(struct relay *relay, struct pair *pair, const char *bytes, ssize_t length) {
    if (relay->is_held || pair->loss == HOLD_BEHIND)
        return true;
    if (pair->loss == CUT_INSIDE) {
        const char *said = memmem(bytes, (size_t)length, relay->words, strlen(relay->words));
        if (said != NULL) /* and the NUL behind it */
            write_all(pair->client, bytes, said - bytes + (ssize_t)strlen(relay->words) + 1);
        return false;
    }
    return pair->loss != CUT_BEHIND && write_all(pair->client, bytes, length);
}

/* Moves what there is in one direction; false: the pair is to be cut. */
static bool move(struct relay *relay, struct pair *pair, bool is_client) {
    static char bytes[1 << 16]; /* only this thread's */
    ssize_t length = read(is_client ? pair->client : pair->server, bytes, sizeof(bytes));

    if (length <= 0)
        return false;
    relay->said += is_client;
    return is_client ? from_client(relay, pair, bytes, length)
                     : from_server(relay, pair, bytes, length);
}

static void serve(struct relay *relay, const struct pollfd *polls, int pair_count) {
    bool must_cut = relay->must_cut;

    relay->must_cut = false;
    for (int i = pair_count - 1; i >= 0; i--) {
        bool is_well = !must_cut;
        if (is_well && polls[2 + 2 * i].revents != 0)
            is_well = move(relay, &relay->pairs[i], true);
        if (is_well && polls[3 + 2 * i].revents != 0)
            is_well = move(relay, &relay->pairs[i], false);
        if (!is_well)
            cut_pair(relay, i);
    }
    if (polls[1].revents != 0)
        take(relay);
}

static void *run(void *context) {
    struct relay *relay = context;
    struct pollfd polls[2 + 2 * PAIRS_MAX];
    uint64_t rings;

    for (;;) {
        pthread_mutex_lock(&relay->lock);
        int pair_count = relay->pair_count;
        bool must_end = relay->must_end;
        polls[0] = (struct pollfd){relay->bell, POLLIN, 0};
        polls[1] = (struct pollfd){relay->door, POLLIN, 0};
        for (int i = 0; i < pair_count; i++) {
            polls[2 + 2 * i] = (struct pollfd){relay->pairs[i].client, POLLIN, 0};
            polls[3 + 2 * i] = (struct pollfd){relay->pairs[i].server, POLLIN, 0};
        }
        pthread_mutex_unlock(&relay->lock);
        if (must_end)
            return NULL;
        poll(polls, (nfds_t)(2 + 2 * pair_count), -1);
        pthread_mutex_lock(&relay->lock);
        if (polls[0].revents != 0 && read(relay->bell, &rings, sizeof(rings)) < 0)
            relay->must_end = true;
        serve(relay, polls, pair_count);
        pthread_mutex_unlock(&relay->lock);
    }
}

static void ring(struct relay *relay) {
    uint64_t one = 1;

    pthread_mutex_unlock(&relay->lock);
    if (write(relay->bell, &one, sizeof(one)) < 0)
        abort();
}

/* Where the server is, and the URL by which the client finds us. */
static bool find(struct relay *relay, const char *url) {
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    const char *host = NULL;
    const char *port = "5432";
    const char *user = "";
    const char *database = "";

    for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++) {
        if (option->val == NULL)
            continue;
        if (strcmp(option->keyword, "host") == 0)
            host = option->val;
        if (strcmp(option->keyword, "port") == 0)
            port = option->val;
        if (strcmp(option->keyword, "user") == 0)
            user = option->val;
        if (strcmp(option->keyword, "dbname") == 0)
            database = option->val;
    }
    bool is_found = host != NULL && *host == '/' && address(&relay->server, host, port);
    snprintf(relay->url, sizeof(relay->url), "postgresql://%s@/%s?host=%s", user, database,
             relay->folder);
    PQconninfoFree(options);
    return is_found;
}

static bool open_door(struct relay *relay) {
    struct sockaddr_un here;

    relay->door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    relay->bell = eventfd(0, EFD_CLOEXEC);
    return relay->door >= 0 && relay->bell >= 0 && address(&here, relay->folder, "5432") &&
           bind(relay->door, (struct sockaddr *)&here, sizeof(here)) == 0 &&
           listen(relay->door, PAIRS_MAX) == 0;
}

struct relay *relay_start(const char *url) {
    struct relay *relay = calloc(1, sizeof(*relay));

    if (relay == NULL)
        return NULL;
    snprintf(relay->folder, sizeof(relay->folder), "/tmp/alk-relay.XXXXXX");
    pthread_mutex_init(&relay->lock, NULL);
    if (mkdtemp(relay->folder) == NULL || !find(relay, url) || !open_door(relay) ||
        pthread_create(&relay->thread, NULL, run, relay) != 0) {
        free(relay);
        return NULL;
    }
    return relay;
}

void relay_stop(struct relay *relay) {
    struct sockaddr_un here;

    if (relay == NULL)
        return;
    pthread_mutex_lock(&relay->lock);
    relay->must_end = true;
    ring(relay);
    pthread_join(relay->thread, NULL);
    while (relay->pair_count > 0)
        cut_pair(relay, 0);
    close(relay->door);
    close(relay->bell);
    address(&here, relay->folder, "5432");
    unlink(here.sun_path);
    rmdir(relay->folder);
    pthread_mutex_destroy(&relay->lock);
    free(relay);
}

const char *relay_url(const struct relay *relay) {
    return relay->url;
}

void relay_hold(struct relay *relay, bool is_held) {
    pthread_mutex_lock(&relay->lock);
    relay->is_held = is_held;
    ring(relay);
}

void relay_cut(struct relay *relay) {
    pthread_mutex_lock(&relay->lock);
    relay->must_cut = true;
    ring(relay);
}

static void lose(struct relay *relay, enum loss loss, const char *words) {
    pthread_mutex_lock(&relay->lock);
    relay->loss = loss;
    snprintf(relay->words, sizeof(relay->words), "%s", words);
    ring(relay);
}

void relay_cut_before(struct relay *relay, const char *words) {
    lose(relay, CUT_BEFORE, words);
}

void relay_cut_inside(struct relay *relay, const char *words) {
    lose(relay, CUT_INSIDE, words);
}

void relay_cut_behind(struct relay *relay, const char *words) {
    lose(relay, CUT_BEHIND, words);
}

void relay_hold_behind(struct relay *relay, const char *words) {
    lose(relay, HOLD_BEHIND, words);
}

int relay_taken(struct relay *relay) {
    pthread_mutex_lock(&relay->lock);
    int taken = relay->taken;
    pthread_mutex_unlock(&relay->lock);
    return taken;
}

int relay_said(struct relay *relay) {
    pthread_mutex_lock(&relay->lock);
    int said = relay->said;
    pthread_mutex_unlock(&relay->lock);
    return said;
}
