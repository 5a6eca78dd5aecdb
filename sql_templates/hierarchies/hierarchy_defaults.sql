{# What default levels follow from: the range of numbers, the lengths of texts, and how many
   numbers are whole or texts look like codes, and of texts how many have only digits. #}
SELECT
{% for column in columns %}
{% if column.text %}
    MIN(LENGTH({{ column.value }})),
    MAX(LENGTH({{ column.value }})),
    COUNT({{ column.value }}),
    COUNT(CASE WHEN REGEXP_MATCHES({{ column.value }}, '{{ column.code }}') THEN 1 END),
    COUNT(CASE WHEN REGEXP_MATCHES({{ column.value }}, '^[0-9]+$') THEN 1 END)
{%- else %}
    CAST(MIN({{ column.value }}) AS DOUBLE),
    CAST(MAX({{ column.value }}) AS DOUBLE),
    COUNT({{ column.value }}),
    COUNT(CASE WHEN {{ column.value }} = FLOOR({{ column.value }}) THEN 1 END)
{%- endif %}{{ "," if not loop.last }}
{% endfor %}
FROM {{ source }}
