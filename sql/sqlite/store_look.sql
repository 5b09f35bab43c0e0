-- store_look: how much of a store is there: 0 no schema, 1 a schema without tables, 2 a store.
-- parameters: schema str (SQLite has none)
-- columns: number int
SELECT 1 + EXISTS (SELECT 1 FROM sqlite_schema s WHERE s.type = 'table' AND s.name = 'alk_meta') AS number
WHERE ?1 IS NOT NULL
