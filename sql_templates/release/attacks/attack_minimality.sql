{# The classes of a release beside the people that are in them, for one finer node: `blocks` are the sizes of the parts
   into which that node splits a class, `counts` how often each sensitive value occurs in it, both in order; and how many
   classes are alike in both. `labels` hold, as parameters, a value's label in the release and in the finer node. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
{% set keys %}{% for column in columns %}{{ column.name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
WITH {% for column in columns %}
labels_{{ column.name }} AS MATERIALIZED (
    SELECT
        UNNEST(CAST({{ column.labels[0] }} AS VARCHAR[])) AS value,
        UNNEST(CAST({{ column.labels[1] }} AS VARCHAR[])) AS label,
        UNNEST(CAST({{ column.labels[2] }} AS VARCHAR[])) AS finer
),
{% endfor %}
people AS NOT MATERIALIZED (
    SELECT
    {% for column in columns %}
        {{ parts.text_of(column.theirs, column.other_form, "") }} AS {{ column.name }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ identified }}
),
labelled AS NOT MATERIALIZED (
    SELECT
    {% for column in columns %}
        labels_{{ column.name }}.label AS {{ column.name }},
    {% endfor %}
        labels_{{ finer }}.finer AS finer
    FROM people
    {% for column in columns %}
    JOIN labels_{{ column.name }} ON people.{{ column.name }} = labels_{{ column.name }}.value
    {% endfor %}
),
parts AS NOT MATERIALIZED (
    SELECT {{ keys }}, finer, COUNT(*) AS size
    FROM labelled
    GROUP BY {{ keys }}, finer
),
class_blocks AS MATERIALIZED (
    SELECT {{ keys }}, SUM(size) AS size, STRING_AGG(CAST(size AS VARCHAR), ',' ORDER BY size) AS blocks
    FROM parts
    GROUP BY {{ keys }}
),
cells AS NOT MATERIALIZED (
    SELECT
    {% for column in columns %}
        {{ parts.text_of(column.mine, column.form, "") }} AS {{ column.name }},
    {% endfor %}
        {{ sensitive }} AS s, COUNT(*) AS n
    FROM {{ source }}
    GROUP BY {% for column in columns %}{{ parts.text_of(column.mine, column.form, "") }}, {% endfor %}{{ sensitive }}
),
class_counts AS MATERIALIZED (
    SELECT {{ keys }}, SUM(n) AS size, STRING_AGG(CAST(n AS VARCHAR), ',' ORDER BY n) AS counts
    FROM cells
    GROUP BY {{ keys }}
)
SELECT
    COALESCE(blocks, '') AS blocks, COALESCE(counts, '') AS counts,
    CASE WHEN class_blocks.size = class_counts.size THEN 1 ELSE 0 END AS alike, COUNT(*) AS classes
FROM class_blocks
FULL OUTER JOIN class_counts ON {% for column in columns %}class_blocks.{{ column.name }} = class_counts.{{ column.name }}{{ " AND " if not loop.last }}{% endfor %}

GROUP BY COALESCE(blocks, ''), COALESCE(counts, ''), CASE WHEN class_blocks.size = class_counts.size THEN 1 ELSE 0 END
