{# Which events fit a known one: those equal to it, or within the tolerance of it, or, where a column is `wild`, with a
   missing value on either side. Codes keep the order of values, so that their places are those of `events_spans`. #}
{% macro fit(wild_too) %}
known.own_row + other.own_row = 0
{% for column in columns %}
{% set alike = "other." ~ column.name ~ " BETWEEN span_" ~ column.name ~ ".low AND span_" ~ column.name ~ ".high" if column.spans is not none else "other." ~ column.name ~ " = known." ~ column.name %}
    AND {{ "(known." ~ column.name ~ " = 0 OR other." ~ column.name ~ " = 0 OR " ~ alike ~ ")" if column.wild and wild_too else alike }}
{% endfor %}
{% endmacro %}
{% macro unknown(event) %}
{% for column in columns if column.wild %}{{ event }}.{{ column.name }} = 0{{ " OR " if not loop.last }}{% endfor %}
{% endmacro %}
{% macro known() %}
{{ dictionary }} AS known
{% for column in columns if column.spans is not none %}
JOIN span_{{ column.name }} ON span_{{ column.name }}.code = known.{{ column.name }}
{% endfor %}
{% endmacro %}
{% set any_wild = columns | selectattr("wild") | list %}
WITH nothing AS (
    SELECT 0 AS code
)
{% for column in columns if column.spans is not none %}
, placed_{{ column.name }} AS (
    SELECT code, ROW_NUMBER() OVER (ORDER BY code) AS place
    FROM (SELECT DISTINCT {{ column.name }} AS code FROM {{ dictionary }} WHERE {{ column.name }} <> 0) AS codes
),
span_{{ column.name }} AS (
    SELECT placed.code, lowest.code AS low, highest.code AS high
    FROM placed_{{ column.name }} AS placed
    JOIN {{ column.spans }} AS spans ON spans.place = placed.place
    JOIN placed_{{ column.name }} AS lowest ON lowest.place = spans.low
    JOIN placed_{{ column.name }} AS highest ON highest.place = spans.high
    UNION ALL
    SELECT code, code, code FROM nothing
)
{% endfor %}
SELECT event, event AS fits FROM {{ dictionary }}
UNION
SELECT known.event, other.event
FROM {{ known() }}
JOIN {{ dictionary }} AS other ON {{ fit(false) }}
{% if any_wild %}
UNION
SELECT known.event, other.event
FROM {{ known() }}
JOIN (SELECT * FROM {{ dictionary }} AS other WHERE {{ unknown("other") }}) AS other ON {{ fit(true) }}
UNION
SELECT known.event, other.event
FROM (SELECT * FROM {{ dictionary }} AS unknown WHERE {{ unknown("unknown") }}) AS known
{% for column in columns if column.spans is not none %}
JOIN span_{{ column.name }} ON span_{{ column.name }}.code = known.{{ column.name }}
{% endfor %}
JOIN {{ dictionary }} AS other ON {{ fit(true) }}
{% endif %}
