{# Where to cut the events so that each part has about as many sets: the last event of each part. Of the sets of `size` events
   drawn from all pairs of a person and an event, the share (1 - q)^size has no event among the first share q of these pairs. #}
SELECT MAX(event) AS last
FROM (
    SELECT event, FLOOR({{ parts }} * (1 - POW(1 - before / CAST(NULLIF(total, 0) AS DOUBLE), {{ size }}))) AS part
    FROM (
        SELECT event, SUM(persons) OVER (ORDER BY event) - persons AS before, SUM(persons) OVER () AS total FROM {{ dictionary }}
    ) AS placed
) AS cut
GROUP BY part
ORDER BY last
