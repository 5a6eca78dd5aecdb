{# Some persons of whom one value is left, those first whom the fewest steps single out: who, the releases that they are in, the
   value, and the round. For reports that may show values. #}
{% import "release/series/_series.sql" as parts with context %}
WITH {{ parts.lives(releases) ~ "," if kept }}{{ parts.told(releases, rounds, kept) }},
people AS (
    SELECT path, MIN(CAST(s AS VARCHAR)) AS s, MAX(known) AS known
    FROM told
    WHERE known IS NOT NULL
    GROUP BY path
)
SELECT
    lives.e, people.s, people.known{% for one in releases %}, CASE WHEN lives.c{{ loop.index }} IS NULL THEN 0 ELSE 1 END AS r{{ loop.index }}{% endfor %}

FROM people
JOIN (
    SELECT lives.*, MIN(e) OVER (PARTITION BY {{ parts.classes(releases) }}) AS path
    FROM lives
) AS lives ON people.path = lives.path
ORDER BY people.known, lives.e
LIMIT {{ limit }}
