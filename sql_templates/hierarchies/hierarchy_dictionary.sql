{# The values of a column with all their labels: computed ones, listed ones, the default where neither covers a value. #}
{% macro key(name) %}{% if float %}CAST(TRY_CAST({{ name }}.key AS DOUBLE) AS VARCHAR){% else %}{{ name }}.key{% endif %}{% endmacro %}
{% set own = "found.key IS NOT NULL" %}
SELECT
    found.id,
    {{ "found.v" if with_value else "TRY_CAST(found.key AS " ~ type ~ ")" }} AS v,
    {{ key("found") }} AS key,
    found.row_count,
    {{ "found.key IS NULL OR listed.listed IS NOT NULL" if listed else "TRUE" }} AS covered
{% for level in levels %}
    {% if level.top %}
    , '*' AS l{{ level.number }}
    {% elif fallback %}
    , COALESCE({{ "listed.l" if level.listed else "found.l" }}{{ level.number }}, CASE WHEN {{ own }} THEN fallback.label END) AS l{{ level.number }}
    {% else %}
    , {{ "listed.l" if level.listed else "found.l" }}{{ level.number }} AS l{{ level.number }}
    {% endif %}
{% endfor %}
FROM {{ source }} AS found
{% if listed %}
LEFT JOIN {{ listed }} AS listed ON {{ key("found") }} IS NOT DISTINCT FROM {{ key("listed") }}
{% endif %}
{% if fallback %}
CROSS JOIN {{ fallback }} AS fallback
{% endif %}
