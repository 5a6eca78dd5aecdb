{# A value as a release writes it, with one text for all that are equal: 0 and -0, 1.0 and 1.00, or with blanks behind. #}
{% if kind == "float" %}
CASE WHEN {{ value }} = 0 THEN ABS({{ value }}) ELSE {{ value }} END
{%- elif kind == "decimal" %}
TRIM_SCALE({{ value }})
{%- else %}
RTRIM(CAST({{ value }} AS VARCHAR), ' ')
{%- endif %}
