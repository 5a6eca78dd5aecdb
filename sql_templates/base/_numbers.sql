{# Values numbered 1, 2, … in their order, as a CTE `name` of (value, code); `values` is a SELECT of each of them once,
   none of them NULL. A window without PARTITION BY is one task on Spark, whatever the cluster. So there `many` values are
   numbered range by range: 127 of them, drawn by their hashes, part the others, and a range begins where those
   below it end. The hashes decide how large ranges are, and no number. #}
{% macro dictionary(name, values, many=false, ordered=true) %}
{% if dialect == "spark" and many %}
{{ name }}_seen AS (
    {{ values }}
),
{{ name }}_ends AS (
    SELECT SORT_ARRAY(COLLECT_LIST(value)) AS ends
    FROM (
        SELECT MIN_BY(value, STRUCT(XXHASH64(value), value)) AS value
        FROM {{ name }}_seen
        GROUP BY PMOD(XXHASH64(value, 1), 127)
    ) AS drawn
),
{{ name }}_ranges AS (
    SELECT value, SIZE(FILTER(ends, x -> x <= value)) AS place
    FROM {{ name }}_seen
    CROSS JOIN {{ name }}_ends
),
{{ name }}_starts AS (
    SELECT place, SUM(size) OVER (ORDER BY place) - size AS below
    FROM (SELECT place, COUNT(*) AS size FROM {{ name }}_ranges GROUP BY place) AS sizes
),
{{ name }} AS (
    SELECT value, below + ROW_NUMBER() OVER (PARTITION BY ranges.place ORDER BY value) AS code
    FROM {{ name }}_ranges AS ranges
    JOIN {{ name }}_starts AS starts ON ranges.place = starts.place
)
{%- else %}
{{ name }} AS (
    SELECT value, ROW_NUMBER() OVER ({{ "ORDER BY value" if ordered or dialect == "spark" }}) AS code
    FROM (
        {{ values }}
    ) AS seen
)
{%- endif %}
{%- endmacro %}

{# The columns of `source` as codes: dictionaries of their values, and what is read from them. NULL is 0. #}
{% macro dictionaries(names, source, many) %}
{% for name in names %}
{{ dictionary("dictionary_" ~ name, "SELECT DISTINCT " ~ name ~ " AS value FROM " ~ source ~ " WHERE " ~ name ~ " IS NOT NULL", many) }}{{ "," if not loop.last }}
{% endfor %}
{%- endmacro %}

{% macro codes(names, source) -%}
SELECT
{% for name in names %}
    CAST(COALESCE(dictionary_{{ name }}.code, 0) AS INTEGER) AS {{ name }}{{ "," if not loop.last }}
{% endfor %}
FROM {{ source }} AS source
{% for name in names %}
LEFT JOIN dictionary_{{ name }} ON source.{{ name }} = dictionary_{{ name }}.value
{% endfor %}
{%- endmacro %}
