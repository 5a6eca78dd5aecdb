-- the columns of an Excel sheet or a statistics file, with numbers as what they mean
{# whole units and what is behind the point apart, so that nothing is rounded #}
{% macro micros(column, unit) %}
CAST(trunc({{ column }}) AS BIGINT) * {{ unit }} + CAST(round(({{ column }} - trunc({{ column }})) * {{ unit }}) AS BIGINT)
{%- endmacro %}
SELECT
{% for column, _, unit, origin, type in columns %}
{% if type in ('DATE', 'TIMESTAMP') %}
    CAST(make_timestamp(epoch_us(TIMESTAMP {{ origin }}) + {{ micros(column, unit) }}) AS {{ type }}) AS {{ column }}
{%- elif type == 'TIME' %}
    CAST(make_timestamp({{ micros(column, unit) }}) AS TIME) AS {{ column }}
{%- elif type %}
    CAST({{ column }} AS {{ type }}) AS {{ column }}
{%- else %}
    {{ column }}
{%- endif %}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
