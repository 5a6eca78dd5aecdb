{# A value as a release writes it, with one text for all that are equal: 0 and -0, NaN of any bits, 1.0 and 1.00, or with blanks behind. #}
{% if kind == "float" %}
CASE WHEN {{ value }} = 0 THEN ABS({{ value }}) WHEN {{ value }} = CAST('NaN' AS REAL) THEN CAST('NaN' AS REAL) ELSE {{ value }} END
{%- elif kind == "decimal" %}
TRIM_SCALE({{ value }})
{%- else %}
RTRIM(CAST({{ value }} AS VARCHAR), ' ')
{%- endif %}
