{# Of rows of codes: how many there are, and of each column how often it is missing and its largest code. #}
SELECT
    COUNT(*) AS total
{% for name in names %}
    , SUM(CASE WHEN {{ name }} = 0 THEN 1 ELSE 0 END) AS missing_{{ name }}
    , MAX({{ name }}) AS largest_{{ name }}
{% endfor %}
FROM {{ source }}
