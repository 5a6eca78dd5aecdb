{# Several tables of cells, one after the other; e is the number of the table that a cell is from. What is text in one
   table is text in all; a dimension that a table does not have is missing. #}
{% macro column(given, as_text) %}
{% if given is none %}CAST(NULL AS VARCHAR){% elif as_text %}CAST({{ given }} AS VARCHAR){% else %}{{ given }}{% endif %}
{% endmacro %}
{% for release in releases %}
{{ "UNION ALL" if not loop.first }}
SELECT
    CAST({{ loop.index0 }} AS INTEGER) AS e
    {% for dimension, as_text in release.dimensions %}, {{ column(dimension, as_text) }} AS d{{ loop.index0 }}{% endfor %}

    {% for measure, as_text in release.measures %}, {{ column(measure, as_text) }} AS m{{ loop.index0 }}{% endfor %}

FROM {{ release.source }}
{% endfor %}
