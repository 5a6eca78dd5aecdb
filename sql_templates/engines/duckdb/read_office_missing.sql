{# A column with its codes for missing values as NULL. Of numbers beside letters (type), the letters are no number. #}
{% if type %}
TRY_CAST({{ column }} AS {{ type }})
{%- else %}
CASE WHEN {{ column }} IN (SELECT {{ column }} FROM {{ codes }}) THEN NULL ELSE {{ column }} END
{%- endif %}
