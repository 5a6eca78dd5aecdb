{# How many rows fit their partner's neighbour, the next one and the last one, in every column of `matches`: what one must
   expect where both releases are only sorted alike. `position` holds the columns that number the rows, none = the order
   of the rows. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% macro placed(source, position) %}{{ position if position else "ROW_NUMBER() OVER ()" }} AS place FROM {{ source }}{% endmacro %}
{% macro fitting(which) %}
SELECT
    COUNT(*) AS pairs,
    CAST(COALESCE(SUM(CASE WHEN {% for match in matches %}(mine_{{ match.name }} = {{ which }}_{{ match.name }}{% if match.listed %} OR NOT listed_{{ match.name }}.mine IS NULL{% endif %}) AND {% endfor %}1 = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS fitting
FROM neighbours
{% for match in matches if match.listed %}
LEFT JOIN listed_{{ match.name }} ON listed_{{ match.name }}.mine = mine_{{ match.name }} AND listed_{{ match.name }}.theirs = {{ which }}_{{ match.name }}
{% endfor %}
WHERE NOT {{ which }}_{{ matches[0].name }} IS NULL
{% endmacro %}
WITH mine AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.mine, match.form, match.null) }} AS {{ match.name }}, {% endfor %}{{ placed(source, position[0]) }}
),
theirs AS NOT MATERIALIZED (
    SELECT {% for match in matches %}{{ parts.text_of(match.theirs, match.other_form, match.other_null) }} AS {{ match.name }}, {% endfor %}{{ placed(other, position[1]) }}
),
{% for match in matches if match.listed %}
listed_{{ match.name }} AS MATERIALIZED (
    SELECT
        UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine,
        UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs
),
{% endfor %}
neighbours AS MATERIALIZED (
    SELECT
    {% for match in matches %}
        mine.{{ match.name }} AS mine_{{ match.name }},
        LEAD(theirs.{{ match.name }}) OVER (ORDER BY mine.place) AS next_{{ match.name }},
        LAG(theirs.{{ match.name }}) OVER (ORDER BY mine.place) AS last_{{ match.name }}{{ "," if not loop.last }}
    {% endfor %}
    FROM mine
    JOIN theirs ON mine.place = theirs.place
)
{{ fitting("next") }}
UNION ALL
{{ fitting("last") }}
