{# As columns_count_sets, with persons (e) instead of rows: a class has as many members as different persons, a person
   is at risk when one of their classes has fewer than k, and is alone when one of their classes has no one else. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{{ parts.people(columns, entity, source) }}
{% for set in sets %}
{{ "UNION ALL" if not loop.first }}
SELECT
    {{ set.number }} AS set_number,
    SUM(CASE WHEN solo = 1 THEN person_rows WHEN is_first = 1 THEN 1 ELSE 0 END) AS classes,
    MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
    COUNT(DISTINCT CASE WHEN {{ "solo = 1 OR " if k > 1 }}members < {{ k }} THEN e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN solo = 1 OR members = 1 THEN e END) AS alone,
    NULL AS pairs
FROM (
    SELECT
        e,
        solo,
        person_rows,
        COUNT(*) OVER (PARTITION BY {{ "1" if not set.key_names }}{{ set.key_names | join(", ") }}) AS members,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY {{ "1" if not set.key_names }}{{ set.key_names | join(", ") }} ORDER BY e) = 1 THEN 1 ELSE 0 END AS is_first
    FROM (
        SELECT
            e,
        {% for key in set.packed %}
            {{ parts.packed(key) }} AS k{{ loop.index0 }},
        {% endfor %}
            {{ "MAX(CASE WHEN " ~ parts.solo(set.nullable, coded) ~ " THEN 1 ELSE 0 END)" if set.nullable else "0" }} AS solo,
            COUNT(*) AS person_rows
        FROM {{ "people" if columns is not none else source }}
        GROUP BY {{ parts.keys(set) }}{{ ", " if set.packed }}e
    ) AS persons
) AS classes
{% endfor %}
