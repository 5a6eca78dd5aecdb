{# An identified table linked with the release. Both are grouped by the columns that they are matched by, so that tuples
   are joined and not rows. One row of the answer: `side` 'people' with how many people have so many candidates among the
   rows of the release, or `side` 'rows' with how many rows of the release fit so many people. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% set names %}{% for match in matches %}{{ match.name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
WITH released AS {{ "" if key else "NOT " }}MATERIALIZED (
    SELECT
    {% for match in matches %}
        {{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }},
    {% endfor %}
    {% for sensitive in sensitives %}
        CAST({{ sensitive }} AS VARCHAR) AS s{{ loop.index0 }},
    {% endfor %}
        {{ "CAST(" ~ key[0] ~ " AS VARCHAR)" if key else "NULL" }} AS who
    FROM {{ source }}
),
people AS {{ "" if key else "NOT " }}MATERIALIZED (
    SELECT
    {% for match in matches %}
        {{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }},
    {% endfor %}
        {{ "CAST(" ~ key[1] ~ " AS VARCHAR)" if key else "NULL" }} AS who
    FROM {{ identified }}
),
row_tuples AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS id, {{ names }}, COUNT(*) AS n
    {% for sensitive in sensitives %}
        , MIN(s{{ loop.index0 }}) AS low_{{ loop.index0 }}, MAX(s{{ loop.index0 }}) AS high_{{ loop.index0 }}, COUNT(s{{ loop.index0 }}) AS known_{{ loop.index0 }}
    {% endfor %}
    FROM released
    GROUP BY {{ names }}
),
people_tuples AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, {{ names }}, COUNT(*) AS people
    FROM people
    GROUP BY {{ names }}
),
{{ parts.fits(matches, "row_tuples", "people_tuples") }}
links AS MATERIALIZED (
    SELECT mine.id AS row_id, theirs.id AS person_id, mine.n, theirs.people
    {% for sensitive in sensitives %}
        , low_{{ loop.index0 }}, high_{{ loop.index0 }}, known_{{ loop.index0 }}
    {% endfor %}
    {{ parts.joined(matches, "row_tuples", "people_tuples") }}
),
row_side AS MATERIALIZED (
    SELECT row_id, MAX(n) AS n, SUM(people) AS people
    FROM links
    GROUP BY row_id
),
person_side AS NOT MATERIALIZED (
    SELECT
        person_id, MAX(links.people) AS people, SUM(links.n) AS candidates, MAX(row_side.people) AS sharing
    {% for sensitive in sensitives %}
        , CASE WHEN (MIN(low_{{ loop.index0 }}) = MAX(high_{{ loop.index0 }}) AND SUM(known_{{ loop.index0 }}) = SUM(links.n)) OR SUM(known_{{ loop.index0 }}) = 0 THEN 1 ELSE 0 END AS same_{{ loop.index0 }}
    {% endfor %}
    FROM links
    JOIN row_side ON links.row_id = row_side.row_id
    GROUP BY person_id
),
{% if key %}
truth AS NOT MATERIALIZED (
    SELECT people_tuples.id AS person_id, row_tuples.id AS row_id, COUNT(*) AS known
    FROM people
    JOIN released ON people.who = released.who
    JOIN people_tuples ON {% for match in matches %}people.{{ match.name }} = people_tuples.{{ match.name }}{{ " AND " if not loop.last }}{% endfor %}

    JOIN row_tuples ON {% for match in matches %}released.{{ match.name }} = row_tuples.{{ match.name }}{{ " AND " if not loop.last }}{% endfor %}

    GROUP BY people_tuples.id, row_tuples.id
),
confirmed AS NOT MATERIALIZED (
    SELECT truth.person_id, SUM(known) AS known, SUM(CASE WHEN links.row_id IS NULL THEN 0 ELSE known END) AS confirmed
    FROM truth
    LEFT JOIN links ON truth.person_id = links.person_id AND truth.row_id = links.row_id
    GROUP BY truth.person_id
),
{% endif %}
everybody AS NOT MATERIALIZED (
    SELECT
        people_tuples.people, COALESCE(candidates, 0) AS candidates, COALESCE(sharing, 0) AS sharing
    {% for sensitive in sensitives %}
        , COALESCE(same_{{ loop.index0 }}, 0) AS same_{{ loop.index0 }}
    {% endfor %}
        , {{ "COALESCE(known, 0)" if key else "0" }} AS known, {{ "COALESCE(confirmed, 0)" if key else "0" }} AS confirmed
    FROM people_tuples
    LEFT JOIN person_side ON people_tuples.id = person_side.person_id
    {% if key %}
    LEFT JOIN confirmed ON people_tuples.id = confirmed.person_id
    {% endif %}
)
SELECT
    'people' AS side, CAST(candidates AS BIGINT) AS size, CAST(SUM(people) AS BIGINT) AS members,
    CAST(SUM(CASE WHEN candidates = 1 AND sharing = 1 THEN people ELSE 0 END) AS BIGINT) AS one_to_one,
    CAST(SUM(known) AS BIGINT) AS known, CAST(SUM(confirmed) AS BIGINT) AS confirmed
{% for sensitive in sensitives %}
    , CAST(SUM(same_{{ loop.index0 }} * people) AS BIGINT) AS same_{{ loop.index0 }}
{% endfor %}
FROM everybody
GROUP BY candidates
UNION ALL
SELECT
    'rows' AS side, CAST(people AS BIGINT) AS size, CAST(SUM(n) AS BIGINT) AS members, 0 AS one_to_one, 0 AS known, 0 AS confirmed
{% for sensitive in sensitives %}
    , 0 AS same_{{ loop.index0 }}
{% endfor %}
FROM row_side
GROUP BY people
