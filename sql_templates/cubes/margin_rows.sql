{# How many totals of a file are not among those of the table. Sums are compared by ten digits, since others may have added
   them up in another order. Values of dimensions that are numbers may be written in another way, as 7, 7.0 or 007. #}
{% macro rows(relation, dimensions, figures) %}
    SELECT
        {% for name in dimensions %}COALESCE(PRINTF('%.17g', TRY_CAST(CAST({{ name }} AS VARCHAR) AS DOUBLE)), CAST({{ name }} AS VARCHAR)), {% endfor %}
        {% for name in figures %}PRINTF('%.9e', TRY_CAST({{ name }} AS DOUBLE) + 0.0){{ ", " if not loop.last }}{% endfor %}

    FROM {{ relation }}
{%- endmacro %}
SELECT COUNT(*) AS differing
FROM (
{{ rows(given, given_dimensions, given_figures) }}
    EXCEPT
{{ rows(totals, dimensions, figures) }}
) AS others
