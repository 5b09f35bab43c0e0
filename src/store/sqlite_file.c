/* store/sqlite_file.c: the database files this process has open. Looks at them with stat() only:
 * whoever opens and closes one outside SQLite drops the process's locks on it (S11). */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/sqlite.h"

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct alk__sqlite_file *files;

/* files_lock is held. */
static struct alk__sqlite_file *find(dev_t device, ino_t inode, bool of_parent) {
    for (struct alk__sqlite_file *file = files; file != NULL; file = file->next) {
        if (file->device == device && file->inode == inode &&
            (file->process != getpid()) == of_parent)
            return file;
    }
    return NULL;
}

alk_status alk__sqlite_file_check(const char *path, alk_error *error) {
    struct stat found;

    if (stat(path, &found) != 0)
        return ALK_OK;
    pthread_mutex_lock(&files_lock);
    const struct alk__sqlite_file *file = find(found.st_dev, found.st_ino, true);
    int process = file == NULL ? 0 : (int)file->process;
    pthread_mutex_unlock(&files_lock);
    if (process == 0)
        return ALK_OK;
    return alk__fail(
        error, ALK_USAGE,
        "'%s' was open in process %d when it forked: its child cannot open it (fork first, "
        "or execute a program)",
        path, process);
}

/* files_lock is held. */
static struct alk__sqlite_file *add(dev_t device, ino_t inode) {
    struct alk__sqlite_file *file = alk__alloc(sizeof(*file));

    if (file == NULL)
        return NULL;
    *file = (struct alk__sqlite_file){
        .next = files, .device = device, .inode = inode, .process = getpid()};
    if (alk__turns_init(&file->writer, 1) != 0) {
        alk__free(file);
        return NULL;
    }
    files = file;
    return file;
}

/* The memory of a store is known by the address of its settings. */
static alk_status identify(const struct alk__settings *settings, struct stat *found,
                           alk_error *error) {
    *found = (struct stat){0};
    if (settings->is_memory) {
        found->st_ino = (ino_t)(uintptr_t)settings;
        return ALK_OK;
    }
    if (stat(settings->target, found) == 0)
        return ALK_OK;
    return alk__fail(error, ALK_AGAIN, "'%s': %s", settings->target, alk__reason_of(errno).text);
}

alk_status alk__sqlite_file_use(const struct alk__settings *settings,
                                struct alk__sqlite_file **ret_file, alk_error *error) {
    struct stat found;
    alk_status status = identify(settings, &found, error);

    if (status < 0)
        return status;
    pthread_mutex_lock(&files_lock);
    struct alk__sqlite_file *file = find(found.st_dev, found.st_ino, false);
    if (file == NULL)
        file = add(found.st_dev, found.st_ino);
    if (file != NULL)
        file->uses++;
    pthread_mutex_unlock(&files_lock);
    if (file == NULL)
        return alk__nomem(error);
    *ret_file = file;
    return ALK_OK;
}

void alk__sqlite_file_release(struct alk__sqlite_file *file) {
    if (file == NULL)
        return;
    pthread_mutex_lock(&files_lock);
    bool is_last = --file->uses == 0;
    if (is_last) {
        struct alk__sqlite_file **at = &files;
        while (*at != file)
            at = &(*at)->next;
        *at = file->next;
    }
    pthread_mutex_unlock(&files_lock);
    if (!is_last)
        return;
    alk__turns_release(&file->writer);
    alk__free(file);
}
