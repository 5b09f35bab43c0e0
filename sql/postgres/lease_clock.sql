-- lease_clock: the clock went back, and what was to be done about it is done: high_water starts anew.
-- parameters: name str, owner str, fence int, high_water time
UPDATE alk.lease l
SET high_water = $4
WHERE l.name = $1
  AND l.owner = $2
  AND l.fence = $3
