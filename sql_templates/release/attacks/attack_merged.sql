{# What pairing by position adds: rows whose cells fit in every column of `readable`; of these, rows and cells that become
   finer, and rows in classes below k, of the release and of both releases merged. `position` holds the columns that
   number the rows, none = the order of the rows. Classes are made of `known` matches and of the quasi-identifiers that
   only one release has (`mine_only`, `theirs_only`). #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
{% macro own(columns) %}{% for column in columns %}{{ parts.text_of(column, "", "") }} AS r{{ loop.index }}, {% endfor %}{% endmacro %}
{% macro rest(side, columns) %}{% for column in columns %}{{ side }}.r{{ loop.index }} AS {{ side }}_r{{ loop.index }}, {% endfor %}{% endmacro %}
{% set before %}{% for name in known %}mine_{{ name }}, {% endfor %}{% for column in mine_only %}mine_r{{ loop.index }}, {% endfor %}{% endset %}
{% set after %}{{ before }}{% for name in known %}theirs_{{ name }}, {% endfor %}{% for column in theirs_only %}theirs_r{{ loop.index }}, {% endfor %}{% endset %}
{% set cells %}{% for match in matches %}mine.{{ match.name }}, theirs.{{ match.name }}, {% endfor %}{% for column in mine_only %}mine.r{{ loop.index }}, {% endfor %}{% for column in theirs_only %}theirs.r{{ loop.index }}, {% endfor %}{% endset %}
{% macro size(names, what) %}SUM({{ what }}) OVER ({% if names %}PARTITION BY {{ names.strip().rstrip(",") }}{% endif %}){% endmacro %}
WITH mine AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }}, {% endfor %}{{ own(mine_only) }}{{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }}, {% endfor %}{{ own(theirs_only) }}{{ placed(other, position[1]) }}
),
{% for match in matches if match.listed %}
listed_{{ match.name }} AS MATERIALIZED (
    SELECT
        UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine,
        UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs,
        UNNEST(CAST({{ match.listed[2] }} AS VARCHAR[])) AS direction
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
{% macro finer(match) %}CASE WHEN listed_{{ match.name }}.direction = 'finer' THEN 1 ELSE 0 END{% endmacro %}
compared AS NOT MATERIALIZED (
    SELECT
        both_releases.*,
        CASE WHEN {% for match in readable %}(mine_{{ match.name }} = theirs_{{ match.name }}{% if match.listed %} OR NOT listed_{{ match.name }}.mine IS NULL{% endif %}) AND {% endfor %}1 = 1 THEN 1 ELSE 0 END AS fits,
        {% for match in matches if match.listed %}{{ finer(match) }} + {% endfor %}0 AS finer
    FROM both_releases
    {% for match in matches if match.listed %}
    LEFT JOIN listed_{{ match.name }} ON listed_{{ match.name }}.mine = mine_{{ match.name }} AND listed_{{ match.name }}.theirs = theirs_{{ match.name }}
    {% endfor %}
),
with_size AS NOT MATERIALIZED (
    SELECT compared.*, {{ size(before, "n") }} AS before, {{ size(after, "n * fits") }} AS after
    FROM compared
)
{% macro rows(condition, what) %}CAST(COALESCE(SUM(CASE WHEN fits = 1 AND {{ condition }} THEN {{ what }} ELSE 0 END), 0) AS BIGINT){% endmacro %}
SELECT
    CAST(COALESCE(SUM(n), 0) AS BIGINT) AS positions,
    {{ rows("1 = 1", "n") }} AS fitting,
    {{ rows("finer > 0", "n") }} AS restored,
    {{ rows("finer > 0", "n * finer") }} AS cells,
    {{ rows("before < " ~ k, "n") }} AS below_before,
    {{ rows("after < " ~ k, "n") }} AS below_after
FROM with_size
