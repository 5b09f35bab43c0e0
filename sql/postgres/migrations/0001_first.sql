-- 0001_first: every table of the first release.
-- oldest compatible: 1
-- alk.X stands for the configured schema; the loader puts in its quoted name.

CREATE TABLE alk.meta (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version integer NOT NULL CHECK (version > 0),
    oldest integer NOT NULL CHECK (oldest > 0),
    epoch bigint NOT NULL
);

-- Who held it last stays in the row: the fence only grows (S177).
CREATE TABLE alk.lease (
    name text PRIMARY KEY CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
    owner text,
    fence bigint NOT NULL CHECK (fence > 0),
    ttl interval NOT NULL CHECK (ttl > interval '0'),
    acquired_at timestamptz NOT NULL,
    expires_at timestamptz,
    high_water timestamptz NOT NULL,
    CHECK ((owner IS NULL) = (expires_at IS NULL))
) WITH (fillfactor = 50);

-- A row exists once somebody has set something; a queue without one has the defaults.
CREATE TABLE alk.queue (
    name text PRIMARY KEY CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
    max_attempts integer CHECK (max_attempts >= 1),
    lease interval CHECK (lease > interval '0'),
    backoff_base interval CHECK (backoff_base > interval '0'),
    backoff_cap interval CHECK (backoff_cap > interval '0'),
    expires interval CHECK (expires > interval '0'),
    keep_done interval CHECK (keep_done >= interval '0'),
    keep_dead interval CHECK (keep_dead >= interval '0'),
    payload_bytes integer CHECK (payload_bytes BETWEEN 1 AND 1048576),
    on_dead text CHECK (on_dead IN ('move', 'block')),
    is_outbox boolean NOT NULL DEFAULT false,
    paused_at timestamptz,
    pause_reason text
);

-- The priorities in use. Not unique: two first users make two rows and nobody waits; maintenance removes doubles.
CREATE TABLE alk.lane (
    queue text NOT NULL,
    priority smallint NOT NULL
);
CREATE INDEX lane_queue ON alk.lane (queue, priority DESC);

CREATE SEQUENCE alk.job_id AS bigint;

-- What waits and what runs. No index and no index predicate names a column that a claim changes, and the pages have room for a second copy
-- of each row, so that a claim is a HOT update.
CREATE TABLE alk.job (
    id bigint PRIMARY KEY,
    queue text NOT NULL CHECK (pg_catalog.octet_length(queue) BETWEEN 1 AND 200),
    priority smallint NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL,
    key text,
    head boolean NOT NULL DEFAULT true,
    payload json NOT NULL,
    headers json,
    attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    max_attempts integer CHECK (max_attempts >= 1),
    stamp bigint NOT NULL DEFAULT 0 CHECK (stamp >= 0),
    lease_until timestamptz,
    worker text,
    cancel_requested_at timestamptz,
    expires_at timestamptz,
    dead_at timestamptz,
    has_unique boolean NOT NULL DEFAULT false,
    schedule_id bigint,
    fire_at timestamptz,
    errors json,
    enqueued_at timestamptz NOT NULL,
    claimed_at timestamptz,
    CHECK ((lease_until IS NULL) = (worker IS NULL)),
    CHECK (head OR key IS NOT NULL)
) WITH (fillfactor = 35, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE INDEX job_ready ON alk.job (queue, priority DESC, run_at, id) WHERE head;
CREATE UNIQUE INDEX job_head ON alk.job (queue, key) WHERE head AND key IS NOT NULL;
CREATE INDEX job_chain ON alk.job (queue, key, id) WHERE NOT head;
CREATE INDEX job_expires ON alk.job (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX job_schedule ON alk.job (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;

CREATE TABLE alk.unique_key (
    queue text NOT NULL,
    key text NOT NULL CHECK (pg_catalog.octet_length(key) BETWEEN 1 AND 200),
    job_id bigint NOT NULL,
    scope text NOT NULL CHECK (scope IN ('started', 'finished', 'window')),
    until timestamptz,
    PRIMARY KEY (queue, key),
    CHECK ((scope = 'window') = (until IS NOT NULL))
);
CREATE INDEX unique_key_job ON alk.unique_key (job_id);
CREATE INDEX unique_key_until ON alk.unique_key (until) WHERE until IS NOT NULL;

-- Append only.
CREATE TABLE alk.job_done (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    priority smallint NOT NULL,
    run_at timestamptz NOT NULL,
    key text,
    payload json NOT NULL,
    headers json,
    attempt integer NOT NULL CHECK (attempt >= 0),
    max_attempts integer,
    stamp bigint NOT NULL,
    worker text,
    expires_at timestamptz,
    cancel_requested_at timestamptz,
    schedule_id bigint,
    fire_at timestamptz,
    errors json,
    enqueued_at timestamptz NOT NULL,
    claimed_at timestamptz,
    outcome text NOT NULL CHECK (outcome IN ('done', 'cancelled')),
    result json,
    finished_at timestamptz NOT NULL
);
CREATE INDEX job_done_finished ON alk.job_done (queue, finished_at);

-- Dead letters.
CREATE TABLE alk.job_dead (
    id bigint PRIMARY KEY,
    queue text NOT NULL,
    priority smallint NOT NULL,
    run_at timestamptz NOT NULL,
    key text,
    payload json NOT NULL,
    headers json,
    attempt integer NOT NULL CHECK (attempt >= 0),
    max_attempts integer,
    stamp bigint NOT NULL,
    worker text,
    expires_at timestamptz,
    cancel_requested_at timestamptz,
    schedule_id bigint,
    fire_at timestamptz,
    errors json,
    enqueued_at timestamptz NOT NULL,
    claimed_at timestamptz,
    reason text NOT NULL CHECK (reason IN ('attempts_exhausted', 'expired', 'failed', 'undecodable')),
    finished_at timestamptz NOT NULL
);
CREATE INDEX job_dead_finished ON alk.job_dead (queue, finished_at);

CREATE TABLE alk.schedule (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE pg_catalog."C" NOT NULL UNIQUE CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
    spec text NOT NULL,
    spec_version integer NOT NULL DEFAULT 1 CHECK (spec_version > 0),
    spec_resolved text,
    spec_resolved_from text,
    zone text,
    zone_fingerprint text,
    queue text NOT NULL CHECK (pg_catalog.octet_length(queue) BETWEEN 1 AND 200),
    payload json NOT NULL,
    headers json,
    priority smallint NOT NULL DEFAULT 0,
    max_attempts integer CHECK (max_attempts >= 1),
    expires interval CHECK (expires > interval '0'),
    catchup text NOT NULL DEFAULT 'last' CHECK (catchup IN ('skip', 'last', 'all')),
    catchup_max integer NOT NULL DEFAULT 64 CHECK (catchup_max BETWEEN 1 AND 1000),
    catchup_window interval CHECK (catchup_window > interval '0'),
    max_lateness interval CHECK (max_lateness > interval '0'),
    grace interval NOT NULL DEFAULT interval '60 s' CHECK (grace >= interval '0'),
    overlap text NOT NULL DEFAULT 'allow' CHECK (overlap IN ('allow', 'skip', 'buffer_one', 'replace_pending')),
    dst_gap text NOT NULL DEFAULT 'shift' CHECK (dst_gap IN ('shift', 'skip')),
    dst_fold text NOT NULL DEFAULT 'auto' CHECK (dst_fold IN ('auto', 'first', 'last', 'both')),
    jitter interval CHECK (jitter > interval '0'),
    not_before timestamptz,
    not_after timestamptz,
    max_fires bigint CHECK (max_fires >= 1),
    owner_set text,
    anchor_at timestamptz NOT NULL,
    next_fire_at timestamptz,
    last_fire_at timestamptz,
    version bigint NOT NULL DEFAULT 1 CHECK (version > 0),
    created_at timestamptz NOT NULL,
    paused_at timestamptz,
    pause_until timestamptz,
    done_at timestamptz,
    quarantined_at timestamptz,
    quarantine_from timestamptz,
    quarantine_count integer NOT NULL DEFAULT 0 CHECK (quarantine_count >= 0),
    last_error text,
    fired_total bigint NOT NULL DEFAULT 0 CHECK (fired_total >= 0),
    missed_total bigint NOT NULL DEFAULT 0 CHECK (missed_total >= 0),
    skipped_total bigint NOT NULL DEFAULT 0 CHECK (skipped_total >= 0),
    quarantined_total bigint NOT NULL DEFAULT 0 CHECK (quarantined_total >= 0),
    last_missed_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX schedule_due ON alk.schedule (next_fire_at, id) WHERE paused_at IS NULL AND done_at IS NULL;
CREATE INDEX schedule_pause ON alk.schedule (pause_until, id) WHERE paused_at IS NOT NULL AND done_at IS NULL;
CREATE INDEX schedule_zoned ON alk.schedule (id)
    WHERE zone_fingerprint IS NULL OR zone_fingerprint <> '0000000000000000';
CREATE INDEX schedule_owned ON alk.schedule (owner_set) WHERE owner_set IS NOT NULL;
CREATE INDEX schedule_done ON alk.schedule (done_at) WHERE done_at IS NOT NULL;

-- The ledger. Unique among fired lines: this is the identity of a fire.
CREATE TABLE alk.schedule_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id bigint NOT NULL,
    fire_at timestamptz,
    to_at timestamptz,
    count bigint NOT NULL DEFAULT 1 CHECK (count >= 1),
    is_at_least boolean NOT NULL DEFAULT false,
    outcome text NOT NULL CHECK (outcome IN ('fired', 'skipped_overlap', 'missed', 'manual', 'error')),
    is_catchup boolean NOT NULL DEFAULT false,
    job_id bigint,
    lateness interval,
    owner text,
    fence bigint,
    detail text,
    at timestamptz NOT NULL
);
CREATE UNIQUE INDEX schedule_event_fired ON alk.schedule_event (schedule_id, fire_at) WHERE outcome = 'fired';
CREATE INDEX schedule_event_history ON alk.schedule_event (schedule_id, id DESC);
CREATE INDEX schedule_event_at ON alk.schedule_event (at);

-- For people to look at, not for correctness.
CREATE TABLE alk.worker (
    id text PRIMARY KEY,
    name text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    queues text NOT NULL,
    running integer NOT NULL DEFAULT 0 CHECK (running >= 0),
    breaker text,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE UNLOGGED TABLE alk.waiter (
    queue text NOT NULL,
    worker text NOT NULL,
    pid integer NOT NULL,
    backend_start timestamptz NOT NULL,
    PRIMARY KEY (queue, worker)
);

CREATE TABLE alk.inbox (
    consumer text NOT NULL CHECK (pg_catalog.octet_length(consumer) BETWEEN 1 AND 200),
    message_id text NOT NULL CHECK (pg_catalog.octet_length(message_id) BETWEEN 1 AND 200),
    accepted_at timestamptz NOT NULL,
    PRIMARY KEY (consumer, message_id)
);
CREATE INDEX inbox_accepted ON alk.inbox (accepted_at);

-- When each step of maintenance last went well.
CREATE TABLE alk.maintenance (
    step text PRIMARY KEY,
    done_at timestamptz NOT NULL,
    touched bigint NOT NULL DEFAULT 0
);
