{# Cells by one number each, the codes of the key's columns in the high bits and the lane in the low ones, which become
   the number of their class and the lane again: statements that read them know how large columns are. `codes` are
   (place, bits, smallest value; none = a dictionary, whether there are NULLs) of the key's columns. A code is 0 for NULL;
   where a value has none, its cell has no number. Sorted, so that the cells of a class lie side by side. #}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, keys, sensitive, none, false) }},
{{ parts.known_lanes(kept_lanes) }},
{% for place, bits, lowest, nulls in codes if lowest is none %}
dictionary_{{ place }} AS MATERIALIZED (
    SELECT v, CASE WHEN place < {{ 2 ** bits }} THEN place END AS code
    FROM (
        SELECT v, ROW_NUMBER() OVER () AS place
        FROM (SELECT DISTINCT q{{ place }} AS v FROM target WHERE NOT q{{ place }} IS NULL) AS seen
    ) AS ordered
),
{% endfor %}
numbered AS NOT MATERIALIZED (
    SELECT
        {% for _ in codes %}({% endfor %}0
    {% for place, bits, lowest, nulls in codes %}
    {% set code = "dictionary_" ~ place ~ ".code" if lowest is none else "CAST(q" ~ place ~ " AS BIGINT) - (" ~ (lowest - 1) ~ ")" %}
            * {{ 2 ** bits }} + {{ "CASE WHEN q" ~ place ~ " IS NULL THEN 0 ELSE " ~ code ~ " END" if nulls else code }})
    {% endfor %}
            * {{ 2 ** lane_bits }} + {{ "CASE WHEN target.s IS NULL THEN " ~ null_lane ~ " ELSE lanes.lane END" if null_lane is not none else "lanes.lane" }} AS cell,
        {% for place, bits, lowest, nulls in codes if lowest is not none %}{{ "(q" ~ place ~ " IS NULL OR " if nulls }}q{{ place }} BETWEEN {{ lowest }} AND {{ lowest + 2 ** bits - 2 }}{{ ")" if nulls }} AND {% endfor %}1 = 1 AS has_code
    FROM target
    LEFT JOIN lanes ON target.s = lanes.s
    {% for place, bits, lowest, nulls in codes if lowest is none %}
    LEFT JOIN dictionary_{{ place }} ON q{{ place }} = dictionary_{{ place }}.v
    {% endfor %}
)
SELECT cell >> {{ lane_bits }} AS id, cell & {{ 2 ** lane_bits - 1 }} AS lane, c
FROM (
    SELECT CASE WHEN has_code THEN cell END AS cell, COUNT(*) AS c
    FROM numbered
    GROUP BY 1
    ORDER BY 1
) AS counted
