{# What pairing by position adds: rows in classes below k of the release, and of both releases merged; rows of which at
   least one cell becomes finer. `position` holds the columns that number the rows, none = the order of the rows. Classes
   are made of `known` matches and of the quasi-identifiers that only one release has (`mine_only`, `theirs_only`). #}
{% import "_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
{% macro own(columns) %}{% for column in columns %}{{ parts.text_of(column, "", "") }} AS r{{ loop.index }}, {% endfor %}{% endmacro %}
{% macro rest(side, columns) %}{% for column in columns %}{{ side }}.r{{ loop.index }} AS {{ side }}_r{{ loop.index }}, {% endfor %}{% endmacro %}
{% set before %}{% for name in known %}mine_{{ name }}, {% endfor %}{% for column in mine_only %}mine_r{{ loop.index }}, {% endfor %}{% endset %}
{% set after %}{{ before }}{% for name in known %}theirs_{{ name }}, {% endfor %}{% for column in theirs_only %}theirs_r{{ loop.index }}, {% endfor %}{% endset %}
{% set cells %}{% for match in matches %}mine.{{ match.name }}, theirs.{{ match.name }}, {% endfor %}{% for column in mine_only %}mine.r{{ loop.index }}, {% endfor %}{% for column in theirs_only %}theirs.r{{ loop.index }}, {% endfor %}{% endset %}
{% macro size(names) %}SUM(n) OVER ({% if names %}PARTITION BY {{ names.strip().rstrip(",") }}{% endif %}){% endmacro %}
WITH mine AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }}, {% endfor %}{{ own(mine_only) }}{{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }}, {% endfor %}{{ own(theirs_only) }}{{ placed(other, position[1]) }}
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
        {{ rest("mine", mine_only) }}{{ rest("theirs", theirs_only) }}COUNT(*) AS n
    FROM mine
    JOIN theirs ON mine.place = theirs.place
    GROUP BY {{ cells.strip().rstrip(",") }}
),
with_size AS NOT MATERIALIZED (
    SELECT both_releases.*, {{ size(before) }} AS before, {{ size(after) }} AS after
    FROM both_releases
)
SELECT
    CAST(COALESCE(SUM(n), 0) AS BIGINT) AS positions,
    CAST(COALESCE(SUM(CASE WHEN before < {{ k }} THEN n ELSE 0 END), 0) AS BIGINT) AS below_before,
    CAST(COALESCE(SUM(CASE WHEN after < {{ k }} THEN n ELSE 0 END), 0) AS BIGINT) AS below_after,
    CAST(COALESCE(SUM(CASE WHEN {% for match in matches if match.listed %}NOT finer_{{ match.name }}.mine IS NULL OR {% endfor %}1 = 0 THEN n ELSE 0 END), 0) AS BIGINT) AS restored
FROM with_size
{% for match in matches if match.listed %}
LEFT JOIN finer_{{ match.name }} ON finer_{{ match.name }}.mine = with_size.mine_{{ match.name }} AND finer_{{ match.name }}.theirs = with_size.theirs_{{ match.name }}
{% endfor %}
