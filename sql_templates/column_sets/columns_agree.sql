{# The agree sets of pairs of rows that are equal on some key columns: which columns are equal in both, as bits in words
   of 62. Each different set once, that of pairs which are equal everywhere among them. With `stride` only every n-th row
   is compared with the rows after it (`sampled`: both rows are every n-th). Where the keys that rows share are kept
   (`shared`), only rows that have one are joined, on the packed key. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{% if columns is not none %}
WITH people AS MATERIALIZED (
    SELECT
        ROW_NUMBER() OVER () AS number,
    {% for name in ranked %}
        DENSE_RANK() OVER (ORDER BY {{ name }}) AS r_{{ name }},
    {% endfor %}
        listed.*
    FROM (
        {{ parts.rows(columns, none) }}
        FROM {{ source }}
    ) AS listed
)
{% endif %}
{% if shared is not none %}
WITH repeated AS MATERIALIZED (
    SELECT *
    FROM (
        SELECT
            coded.rowid AS number,
        {% for part in packed %}
            {{ parts.packed(part) }} AS k{{ loop.index0 }},
        {% endfor %}
            coded.*
        FROM {{ source }} AS coded
    ) AS listed
    SEMI JOIN {{ shared }} AS keys USING ({{ key | join(", ") }})
)
{% elif coded and sampled %}
WITH drawn AS MATERIALIZED (
    SELECT coded.rowid AS number, coded.*
    FROM {{ source }} AS coded
    WHERE coded.rowid % {{ stride }} = 0
)
{% endif %}
{% set table = "people" if columns is not none else "repeated" if shared is not none else "drawn" if sampled else source %}
{% set number = "rowid" if table == source else "number" %}
SELECT DISTINCT {% for word in words %}w{{ loop.index0 }}{{ ", " if not loop.last }}{% endfor %}

FROM (
    SELECT
    {% for word in words %}
        {% for name in word %}{% if name in solo_columns %}CASE WHEN a.{{ name }} = b.{{ name }}{{ " AND a." ~ name ~ " <> 0" if coded }} THEN {{ 2 ** loop.index0 }} ELSE 0 END{% elif name in loose %}CASE WHEN a.{{ name }} = b.{{ name }} OR (a.{{ name }} IS NULL AND b.{{ name }} IS NULL) THEN {{ 2 ** loop.index0 }} ELSE 0 END{% else %}CASE WHEN a.{{ name }} = b.{{ name }} THEN {{ 2 ** loop.index0 }} ELSE 0 END{% endif %}{{ " + " if not loop.last }}{% endfor %} AS w{{ loop.index0 }}{{ "," if not loop.last }}
    {% endfor %}

    FROM {{ table }} AS a
    JOIN {{ table }} AS b ON {% for name in key %}{{ "a.r_" ~ name ~ " = b.r_" ~ name if name in ranked else "a." ~ name ~ " IS NOT DISTINCT FROM b." ~ name if name in loose else "a." ~ name ~ " = b." ~ name }} AND {% endfor %}a.{{ number }} < b.{{ number }}
    WHERE 1 = 1{{ " AND a." ~ number ~ " % " ~ stride ~ " = 0" if stride > 1 }}{{ " AND b." ~ number ~ " % " ~ stride ~ " = 0" if stride > 1 and sampled }}{% for name in key if name in solo_columns and coded %} AND a.{{ name }} <> 0{% endfor %}

) AS pairs
