-- 0001_first: every table of the first release.
-- oldest compatible: 1
-- alk_ is the prefix. Times and spans are microseconds, booleans 0 or 1.

CREATE TABLE alk_meta (
    only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
    version INTEGER NOT NULL CHECK (version > 0),
    oldest INTEGER NOT NULL CHECK (oldest > 0),
    epoch INTEGER NOT NULL
) STRICT;

-- Who held it last stays in the row: the fence only grows (S177).
CREATE TABLE alk_lease (
    name TEXT PRIMARY KEY CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 200),
    owner TEXT,
    fence INTEGER NOT NULL CHECK (fence > 0),
    ttl INTEGER NOT NULL CHECK (ttl > 0),
    acquired_at INTEGER NOT NULL,
    expires_at INTEGER,
    high_water INTEGER NOT NULL,
    CHECK ((owner IS NULL) = (expires_at IS NULL))
) STRICT;

-- A row exists once somebody has set something; a queue without one has the defaults.
CREATE TABLE alk_queue (
    name TEXT PRIMARY KEY CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 200),
    max_attempts INTEGER CHECK (max_attempts >= 1),
    lease INTEGER CHECK (lease > 0),
    backoff_base INTEGER CHECK (backoff_base > 0),
    backoff_cap INTEGER CHECK (backoff_cap > 0),
    expires INTEGER CHECK (expires > 0),
    keep_done INTEGER CHECK (keep_done >= 0),
    keep_dead INTEGER CHECK (keep_dead >= 0),
    payload_bytes INTEGER CHECK (payload_bytes BETWEEN 1 AND 1048576),
    on_dead TEXT CHECK (on_dead IN ('move', 'block')),
    is_outbox INTEGER NOT NULL DEFAULT 0 CHECK (is_outbox IN (0, 1)),
    paused_at INTEGER,
    pause_reason TEXT
) STRICT;

-- The priorities in use.
CREATE TABLE alk_lane (
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL CHECK (priority BETWEEN -32768 AND 32767),
    PRIMARY KEY (queue, priority DESC)
) STRICT, WITHOUT ROWID;

-- What waits and what runs.
CREATE TABLE alk_job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL CHECK (length(CAST(queue AS BLOB)) BETWEEN 1 AND 200),
    priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN -32768 AND 32767),
    run_at INTEGER NOT NULL,
    key TEXT,
    head INTEGER NOT NULL DEFAULT 1 CHECK (head IN (0, 1)),
    payload TEXT NOT NULL,
    headers TEXT,
    attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    max_attempts INTEGER CHECK (max_attempts >= 1),
    stamp INTEGER NOT NULL DEFAULT 0 CHECK (stamp >= 0),
    lease_until INTEGER,
    worker TEXT,
    cancel_requested_at INTEGER,
    expires_at INTEGER,
    dead_at INTEGER,
    has_unique INTEGER NOT NULL DEFAULT 0 CHECK (has_unique IN (0, 1)),
    schedule_id INTEGER,
    fire_at INTEGER,
    errors TEXT,
    enqueued_at INTEGER NOT NULL,
    claimed_at INTEGER,
    CHECK ((lease_until IS NULL) = (worker IS NULL)),
    CHECK (head = 1 OR key IS NOT NULL)
) STRICT;
CREATE INDEX alk_job_ready ON alk_job (queue, priority DESC, run_at, id) WHERE head = 1;
CREATE UNIQUE INDEX alk_job_head ON alk_job (queue, key) WHERE head = 1 AND key IS NOT NULL;
CREATE INDEX alk_job_chain ON alk_job (queue, key, id) WHERE head = 0;
CREATE INDEX alk_job_expires ON alk_job (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX alk_job_schedule ON alk_job (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;

CREATE TABLE alk_unique_key (
    queue TEXT NOT NULL,
    key TEXT NOT NULL CHECK (length(CAST(key AS BLOB)) BETWEEN 1 AND 200),
    job_id INTEGER NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('started', 'finished', 'window')),
    until INTEGER,
    PRIMARY KEY (queue, key),
    CHECK ((scope = 'window') = (until IS NOT NULL))
) STRICT;
CREATE INDEX alk_unique_key_job ON alk_unique_key (job_id);
CREATE INDEX alk_unique_key_until ON alk_unique_key (until) WHERE until IS NOT NULL;
-- Only a claim changes the stamp, and a job that has ended leaves the table. As triggers these cost
-- the claims and settles of jobs without a unique key nothing (S58).
CREATE TRIGGER alk_job_started AFTER UPDATE OF stamp ON alk_job WHEN NEW.has_unique = 1
BEGIN
    DELETE FROM alk_unique_key WHERE job_id = NEW.id AND scope = 'started';
END;
CREATE TRIGGER alk_job_ended AFTER DELETE ON alk_job WHEN OLD.has_unique = 1
BEGIN
    DELETE FROM alk_unique_key WHERE job_id = OLD.id AND scope <> 'window';
END;

-- Append only.
CREATE TABLE alk_job_done (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    key TEXT,
    payload TEXT NOT NULL,
    headers TEXT,
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    max_attempts INTEGER,
    stamp INTEGER NOT NULL,
    worker TEXT,
    expires_at INTEGER,
    cancel_requested_at INTEGER,
    schedule_id INTEGER,
    fire_at INTEGER,
    errors TEXT,
    enqueued_at INTEGER NOT NULL,
    claimed_at INTEGER,
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'cancelled')),
    result TEXT,
    finished_at INTEGER NOT NULL
) STRICT;
CREATE INDEX alk_job_done_finished ON alk_job_done (queue, finished_at);

-- Dead letters.
CREATE TABLE alk_job_dead (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    run_at INTEGER NOT NULL,
    key TEXT,
    payload TEXT NOT NULL,
    headers TEXT,
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    max_attempts INTEGER,
    stamp INTEGER NOT NULL,
    worker TEXT,
    expires_at INTEGER,
    cancel_requested_at INTEGER,
    schedule_id INTEGER,
    fire_at INTEGER,
    errors TEXT,
    enqueued_at INTEGER NOT NULL,
    claimed_at INTEGER,
    reason TEXT NOT NULL CHECK (reason IN ('attempts_exhausted', 'expired', 'failed', 'undecodable')),
    finished_at INTEGER NOT NULL
) STRICT;
CREATE INDEX alk_job_dead_finished ON alk_job_dead (queue, finished_at);

CREATE TABLE alk_schedule (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 200),
    spec TEXT NOT NULL,
    spec_version INTEGER NOT NULL DEFAULT 1 CHECK (spec_version > 0),
    spec_resolved TEXT,
    spec_resolved_from TEXT,
    zone TEXT,
    zone_fingerprint TEXT,
    queue TEXT NOT NULL CHECK (length(CAST(queue AS BLOB)) BETWEEN 1 AND 200),
    payload TEXT NOT NULL,
    headers TEXT,
    priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN -32768 AND 32767),
    max_attempts INTEGER CHECK (max_attempts >= 1),
    expires INTEGER CHECK (expires > 0),
    catchup TEXT NOT NULL DEFAULT 'last' CHECK (catchup IN ('skip', 'last', 'all')),
    catchup_max INTEGER NOT NULL DEFAULT 64 CHECK (catchup_max BETWEEN 1 AND 1000),
    catchup_window INTEGER CHECK (catchup_window > 0),
    max_lateness INTEGER CHECK (max_lateness > 0),
    grace INTEGER NOT NULL DEFAULT 60000000 CHECK (grace >= 0),
    overlap TEXT NOT NULL DEFAULT 'allow' CHECK (overlap IN ('allow', 'skip', 'buffer_one', 'replace_pending')),
    dst_gap TEXT NOT NULL DEFAULT 'shift' CHECK (dst_gap IN ('shift', 'skip')),
    dst_fold TEXT NOT NULL DEFAULT 'auto' CHECK (dst_fold IN ('auto', 'first', 'last', 'both')),
    jitter INTEGER CHECK (jitter > 0),
    not_before INTEGER,
    not_after INTEGER,
    max_fires INTEGER CHECK (max_fires >= 1),
    owner_set TEXT,
    anchor_at INTEGER NOT NULL,
    next_fire_at INTEGER,
    last_fire_at INTEGER,
    version INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
    created_at INTEGER NOT NULL,
    paused_at INTEGER,
    pause_until INTEGER,
    done_at INTEGER,
    quarantined_at INTEGER,
    quarantine_from INTEGER,
    quarantine_count INTEGER NOT NULL DEFAULT 0 CHECK (quarantine_count >= 0),
    last_error TEXT,
    fired_total INTEGER NOT NULL DEFAULT 0 CHECK (fired_total >= 0),
    missed_total INTEGER NOT NULL DEFAULT 0 CHECK (missed_total >= 0),
    skipped_total INTEGER NOT NULL DEFAULT 0 CHECK (skipped_total >= 0),
    quarantined_total INTEGER NOT NULL DEFAULT 0 CHECK (quarantined_total >= 0),
    last_missed_at INTEGER
) STRICT;
CREATE INDEX alk_schedule_due ON alk_schedule (next_fire_at, id) WHERE paused_at IS NULL AND done_at IS NULL;
CREATE INDEX alk_schedule_pause ON alk_schedule (pause_until, id) WHERE paused_at IS NOT NULL AND done_at IS NULL;
CREATE INDEX alk_schedule_zoned ON alk_schedule (id)
    WHERE zone_fingerprint IS NULL OR zone_fingerprint <> '0000000000000000';
CREATE INDEX alk_schedule_owned ON alk_schedule (owner_set) WHERE owner_set IS NOT NULL;
CREATE INDEX alk_schedule_done ON alk_schedule (done_at) WHERE done_at IS NOT NULL;

-- The ledger. Unique among fired lines: this is the identity of a fire.
CREATE TABLE alk_schedule_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule_id INTEGER NOT NULL,
    fire_at INTEGER,
    to_at INTEGER,
    count INTEGER NOT NULL DEFAULT 1 CHECK (count >= 1),
    is_at_least INTEGER NOT NULL DEFAULT 0 CHECK (is_at_least IN (0, 1)),
    outcome TEXT NOT NULL CHECK (outcome IN ('fired', 'skipped_overlap', 'missed', 'manual', 'error')),
    is_catchup INTEGER NOT NULL DEFAULT 0 CHECK (is_catchup IN (0, 1)),
    job_id INTEGER,
    lateness INTEGER,
    owner TEXT,
    fence INTEGER,
    detail TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX alk_schedule_event_fired ON alk_schedule_event (schedule_id, fire_at) WHERE outcome = 'fired';
CREATE INDEX alk_schedule_event_history ON alk_schedule_event (schedule_id, id DESC);
CREATE INDEX alk_schedule_event_at ON alk_schedule_event (at);

-- For people to look at, not for correctness.
CREATE TABLE alk_worker (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    queues TEXT NOT NULL,
    running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
    breaker TEXT,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE alk_waiter (
    queue TEXT NOT NULL,
    worker TEXT NOT NULL,
    pid INTEGER NOT NULL,
    backend_start INTEGER NOT NULL,
    PRIMARY KEY (queue, worker)
) STRICT;

CREATE TABLE alk_inbox (
    consumer TEXT NOT NULL CHECK (length(CAST(consumer AS BLOB)) BETWEEN 1 AND 200),
    message_id TEXT NOT NULL CHECK (length(CAST(message_id AS BLOB)) BETWEEN 1 AND 200),
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (consumer, message_id)
) STRICT;
CREATE INDEX alk_inbox_accepted ON alk_inbox (accepted_at);

-- When each step of maintenance last went well.
CREATE TABLE alk_maintenance (
    step TEXT PRIMARY KEY,
    done_at INTEGER NOT NULL,
    touched INTEGER NOT NULL DEFAULT 0
) STRICT;
