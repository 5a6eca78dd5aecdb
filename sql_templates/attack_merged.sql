{# What pairing by position adds: rows in classes below k of the release, and of both releases merged; rows of which at
   least one cell becomes finer. `position` holds the columns that number the rows, none = the order of the rows. #}
{% import "_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
{% set mine %}{% for match in matches %}mine.{{ match.name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
{% set theirs %}{% for match in matches %}theirs.{{ match.name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
WITH mine AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }}, {% endfor %}{{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }}, {% endfor %}{{ placed(other, position[1]) }}
),
{% for match in matches if match.listed %}
finer_{{ match.name }} AS MATERIALIZED (
    SELECT mine, theirs
    FROM (
        SELECT
            UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine,
            UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs,
            UNNEST(CAST({{ match.listed[2] }} AS VARCHAR[])) AS direction
    ) AS listed
    WHERE direction = 'finer'
),
{% endfor %}
both_releases AS MATERIALIZED (
    SELECT
    {% for match in matches %}
        mine.{{ match.name }} AS mine_{{ match.name }}, theirs.{{ match.name }} AS theirs_{{ match.name }},
    {% endfor %}
        COUNT(*) AS n
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY {{ mine }}, {{ theirs }}
),
with_size AS NOT MATERIALIZED (
    SELECT both_releases.*, SUM(n) OVER (PARTITION BY {% for match in matches %}mine_{{ match.name }}{{ ", " if not loop.last }}{% endfor %}) AS before
    FROM both_releases
)
SELECT
    CAST(COALESCE(SUM(n), 0) AS BIGINT) AS positions,
    CAST(COALESCE(SUM(CASE WHEN before < {{ k }} THEN n ELSE 0 END), 0) AS BIGINT) AS below_before,
    CAST(COALESCE(SUM(CASE WHEN n < {{ k }} THEN n ELSE 0 END), 0) AS BIGINT) AS below_after,
    CAST(COALESCE(SUM(CASE WHEN {% for match in matches if match.listed %}NOT finer_{{ match.name }}.mine IS NULL OR {% endfor %}1 = 0 THEN n ELSE 0 END), 0) AS BIGINT) AS restored
FROM with_size
{% for match in matches if match.listed %}
LEFT JOIN finer_{{ match.name }} ON finer_{{ match.name }}.mine = with_size.mine_{{ match.name }} AND finer_{{ match.name }}.theirs = with_size.theirs_{{ match.name }}
{% endfor %}
