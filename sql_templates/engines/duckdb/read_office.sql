-- the columns of an Excel sheet or a statistics file, with numbers as what they mean
{# whole units and what is behind the point apart, so that nothing is rounded #}
{% macro micros(column, unit) %}
CAST(trunc({{ column }}) AS BIGINT) * {{ unit }} + CAST(round(({{ column }} - trunc({{ column }})) * {{ unit }}) AS BIGINT)
{%- endmacro %}
{% macro value(column, unit, origin, type) %}
{% if type in ('DATE', 'TIMESTAMP') %}
CAST(make_timestamp(epoch_us(TIMESTAMP {{ origin }}) + {{ micros(column, unit) }}) AS {{ type }})
{%- elif type == 'TIME' %}
CAST(make_timestamp({{ micros(column, unit) }}) AS TIME)
{%- elif type %}
CAST({{ column }} AS {{ type }})
{%- else %}
{{ column }}
{%- endif %}
{% endmacro %}
SELECT
{% for column, _, unit, origin, type, letter in columns %}
{% if letter %}
    coalesce({{ letter }}, CAST({{ value(column, unit, origin, type) }} AS VARCHAR)) AS {{ column }}
{%- else %}
    {{ value(column, unit, origin, type) }} AS {{ column }}
{%- endif %}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
