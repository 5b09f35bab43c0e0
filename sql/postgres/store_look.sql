-- store_look: how much of a store is there: 0 no schema, 1 a schema without tables, 2 a store.
-- parameters: schema str
-- columns: number int
SELECT (SELECT pg_catalog.count(*) FROM pg_catalog.pg_namespace n WHERE n.nspname = $1)
     + (SELECT pg_catalog.count(*)
          FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = $1
           AND c.relname = 'meta') AS number
