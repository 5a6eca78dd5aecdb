{# A bucketized release beside its original, whose rows are paired with its persons: original rows that are not there,
   persons without an original, persons with another quasi-identifier, and for each sensitive attribute the values that
   a bucket has beyond those of its persons. #}
{% macro lettered_as(columns, letter) -%}
{% for column in columns %}{{ column }} AS {{ letter }}{{ loop.index }}, {% endfor %}
{%- endmacro %}
WITH known AS (
    SELECT {{ lettered_as(original_keys, "k") }}{{ lettered_as(original_columns, "q") }}{{ lettered_as(original_sensitive, "s") }}1 AS present
    FROM {{ original }} AS listed
),
persons AS (
    SELECT {{ lettered_as(release_keys, "k") }}{{ lettered_as(release_columns, "q") }}{{ bucket_of_persons }} AS bucket, 1 AS present
    FROM {{ persons }} AS listed
),
linked AS (
    SELECT
        known.present AS of_known,
        persons.present AS of_persons,
        CASE WHEN {% for _ in original_columns %}known.q{{ loop.index }} IS DISTINCT FROM persons.q{{ loop.index }}{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END AS moved,
        persons.bucket AS bucket{% for _ in original_sensitive %}, known.s{{ loop.index }} AS s{{ loop.index }}{% endfor %}

    FROM known
    FULL OUTER JOIN persons ON {% for _ in original_keys %}known.k{{ loop.index }} = persons.k{{ loop.index }}{{ " AND " if not loop.last }}{% endfor %}

)
SELECT
    COUNT(CASE WHEN of_persons IS NULL THEN 1 END) AS missing,
    COUNT(CASE WHEN of_known IS NULL THEN 1 END) AS strangers,
    COUNT(CASE WHEN of_known = 1 AND of_persons = 1 AND moved = 1 THEN 1 END) AS moved_rows{% for column in release_sensitive %},
    (
        SELECT COALESCE(SUM(CASE WHEN surplus > 0 THEN surplus ELSE 0 END), 0)
        FROM (
            SELECT SUM(c) AS surplus
            FROM (
                SELECT bucket, s{{ loop.index }} AS s, -1 AS c FROM linked WHERE of_known = 1 AND of_persons = 1
                UNION ALL
                SELECT {{ bucket }} AS bucket, {{ column }} AS s, 1 AS c FROM {{ values }} AS listed
            ) AS both_sides
            GROUP BY bucket, s
        ) AS compared
    ) AS surplus_{{ loop.index }}{% endfor %}

FROM linked
