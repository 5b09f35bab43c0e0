-- wake_others: wakes the listeners of a schema at commit; several of one topic in a transaction are one.
-- parameters: channel str, topic str
SELECT pg_catalog.pg_notify($1, $2)
