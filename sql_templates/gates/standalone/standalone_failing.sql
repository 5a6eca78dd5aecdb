{# One check as one statement with a row for each class that falls short, that floats cannot tell from the limit, or
   whatever class when rows rule the check out: what a test reports. `keep` names the key columns that are shown. #}
{% import "gates/standalone/_standalone.sql" as relation with context %}
{% if population %}
WITH {{ relation.population_relation(source, columns, population, population_columns, key, entity, population_entity) }}
{%- else %}
WITH {{ relation.facts_relation(source, columns, key, entity, facts, more_facts, by_value, uses) }}
{%- endif %}
{% if atoms %},
{{ relation.disclosure_relation(key, atoms, partitions) }}
{%- endif %}

SELECT
    {{ keep }}size AS class_size,
    row_count AS n_records
{% for name, shown in figures %}
    , {{ shown }} AS {{ name }}
{% endfor %}
FROM {{ "disclosed" if atoms else "facts" }}
WHERE ({{ failing }}
{% if doubtful %}
    OR {{ doubtful }}
{% endif %}
{% for count in unusable %}
    OR {{ count }} > 0
{% endfor %}
)
{%- if where %} AND {{ where }}{% endif %}
