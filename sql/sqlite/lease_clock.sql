-- lease_clock: the clock went back, and what was to be done about it is done: high_water starts anew.
-- parameters: name str, owner str, fence int, high_water time
UPDATE alk_lease
SET high_water = ?4
WHERE name = ?1
  AND owner = ?2
  AND fence = ?3
