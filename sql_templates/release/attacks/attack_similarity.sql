{# Members of classes whose values all lie in one category. `shares` are facts, one a category: members with its values. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% macro where(condition, what) %}CAST(COALESCE(SUM(CASE WHEN {{ condition }} THEN {{ what }} * classes ELSE 0 END), 0) AS BIGINT){% endmacro %}
{% set alike %}({% for name in shares %}{{ name }} = n{{ " OR " if not loop.last }}{% endfor %}){% endset %}
WITH {{ relation.facts_relation(classes, totals, facts, form, none) }}
SELECT
    CAST(COALESCE(SUM(size * classes), 0) AS BIGINT) AS members,
    {{ where(alike, "size") }} AS exposed,
    {{ where(alike, "1") }} AS exposed_classes,
    {{ where(alike ~ " AND distinct_values > 1", "size") }} AS several_values,
    MAX(GREATEST({% for name in shares %}{{ name }}, {% endfor %}0) / CAST(n AS DOUBLE)) AS highest
{% for name in shares %}
    , {{ where(name ~ " = n", "size") }} AS of_{{ name }}
{% endfor %}
FROM facts
