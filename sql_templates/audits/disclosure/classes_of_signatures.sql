{# Some classes of each of several signatures (rows, largest counts), with their keys and what `keep` names besides.
   `signatures` holds (rows, counts) pairs; the first `most` classes of each are returned, in the order of the keys. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% set top = facts[0].name %}
WITH {{ relation.facts_relation(classes, totals, facts, form, keep) }},
recognized AS NOT MATERIALIZED (
    SELECT
        facts.*,
        CASE
        {% for size, counts in signatures %}
            WHEN n = {{ size }}{% for count in counts %} AND COALESCE({{ top }}[{{ loop.index }}], 0) = {{ count }}{% endfor %} THEN {{ loop.index0 }}
        {% endfor %}
        END AS signature
    FROM facts
),
numbered AS NOT MATERIALIZED (
    SELECT
        recognized.*,
        ROW_NUMBER() OVER (
            PARTITION BY signature
            ORDER BY {% for column, text in zip(key_names, collated) %}{{ column }}{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST{{ ", " if not loop.last }}{% endfor %}

        ) AS copy
    FROM recognized
    WHERE NOT signature IS NULL
)
SELECT signature, copy, {{ keep }}
FROM numbered
WHERE copy <= {{ most }}
ORDER BY signature, copy
