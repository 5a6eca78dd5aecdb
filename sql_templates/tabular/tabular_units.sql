{# A number as a whole multiple of its last decimal place. Where a cast fails, Spark writes the value into its log; here it
   is an error without it. #}
{% set decimal = "DECIMAL(28, " ~ places ~ ")" %}
{% if dialect == "spark" %}
CAST(CASE WHEN {{ value }} IS NOT NULL THEN COALESCE(TRY_CAST({{ value }} AS {{ decimal }}), RAISE_ERROR('no number, or one that is out of range')) END * {{ 10 ** places }} AS {{ whole }})
{% else %}
CAST(CAST({{ value }} AS {{ decimal }}) * {{ 10 ** places }} AS {{ whole }})
{% endif %}
