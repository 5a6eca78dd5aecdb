{# For each of several column sets one row: classes, smallest class, rows in classes below k, rows alone in their class,
   ordered pairs of different rows in one class. A set with a `cuboid` is counted from the classes of a wider set. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{{ parts.people(columns, none, source) }}
{% for set in sets %}
{{ "UNION ALL" if not loop.first }}
SELECT
    {{ set.number }} AS set_number,
{% if set.nullable %}
    SUM(CASE WHEN solo = 1 THEN members ELSE 1 END) AS classes,
    MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
    SUM(CASE WHEN {{ "solo = 1 OR " if k > 1 }}members < {{ k }} THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN solo = 1 OR members = 1 THEN members ELSE 0 END) AS alone,
    SUM(CASE WHEN solo = 1 THEN 0 ELSE CAST(members AS {{ wide }}) * (members - 1) END) AS pairs
{% else %}
    COUNT(*) AS classes,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < {{ k }} THEN members ELSE 0 END) AS at_risk,
    SUM(CASE WHEN members = 1 THEN 1 ELSE 0 END) AS alone,
    SUM(CAST(members AS {{ wide }}) * (members - 1)) AS pairs
{% endif %}
FROM (
    SELECT
    {% if set.nullable %}
        MAX(CASE WHEN {{ parts.solo(set.nullable, coded) }} THEN 1 ELSE 0 END) AS solo,
    {% endif %}
        {{ "CAST(SUM(weight) AS BIGINT)" if set.cuboid else "COUNT(*)" }} AS members
    FROM {{ set.cuboid or ("people" if columns is not none else source) }}
    {% if set.packed %}
    GROUP BY {{ parts.keys(set) }}
    {% else %}
    HAVING COUNT(*) > 0
    {% endif %}
) AS classes
{% endfor %}
