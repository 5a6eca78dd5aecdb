{# Where to cut the events so that each part has about as many pairs of a person and an event: the last of each part. #}
SELECT MAX(event) AS last
FROM (
    SELECT event, (SUM(persons) OVER (ORDER BY event) - persons) * {{ parts }} // NULLIF(SUM(persons) OVER (), 0) AS part
    FROM {{ dictionary }}
) AS cut
GROUP BY part
ORDER BY last
