-- the types that hold the numbers of each column of an Excel sheet or a statistics file exactly; empty = they stay
SELECT
{% for column, means, unit, origin in columns %}
{% if means %}
    CASE
{% if means != 'number' %}
    WHEN coalesce(bool_and({{ column }} * {{ unit }} >= epoch_us(TIMESTAMP '0001-01-01') - epoch_us(TIMESTAMP {{ origin }})
        AND {{ column }} * {{ unit }} < epoch_us(TIMESTAMP '10000-01-01') - epoch_us(TIMESTAMP {{ origin }})
        AND {{ column }} = trunc({{ column }}) + round(({{ column }} - trunc({{ column }})) * {{ unit }}) / {{ unit }}
{% if means == 'time' %}
        AND {{ column }} >= 0 AND {{ column }} < 86400), TRUE) THEN 'TIME'
{% else %}
        ), TRUE) THEN {% if means == 'date' %}CASE WHEN coalesce(bool_and({{ column }} % {{ 86400000000 // unit }} = 0), TRUE) THEN 'DATE' ELSE 'TIMESTAMP' END{% else %}'TIMESTAMP'{% endif %}

{% endif %}
{% endif %}
    WHEN coalesce(bool_and({{ column }} = trunc({{ column }}) AND abs({{ column }}) <= 9007199254740992), TRUE) THEN 'BIGINT'
    ELSE ''
    END
{%- else %}
    max('')
{%- endif %}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
