{# The different texts of a column of one table, or only those that look like generalized cells. #}
{% import "release/attacks/_attack_fits.sql" as parts with context %}
SELECT value
FROM (SELECT DISTINCT {{ parts.text_of(column, form, null) }} AS value FROM {{ source }}) AS seen
{% if pattern %}
WHERE REGEXP_MATCHES(value, '{{ pattern }}')
{% endif %}
LIMIT {{ limit }}
