{# The end of a test of dbt: a row for each failing class, that floats cannot tell from the limit, or whatever
   class when rows rule the check out. `keep` names the key columns that are shown; `of_persons` counts what rules a check
   out that has persons, which dbt knows later. #}
SELECT
    {{ keep }}size AS class_size,
    row_count AS n_records
{% for name, shown in figures %}
    , {{ shown }} AS {{ name }}
{% endfor %}
FROM {{ "disclosed" if atoms else "facts" }}
WHERE ({{ failing }}
{% if doubtful %}
    OR {{ doubtful }}
{% endif %}
{% for count in unusable %}
    OR {{ count }} > 0
{% endfor %}
{% if of_persons %}
{{ "{%- if entity is not none %}" }}
{% for count in of_persons %}
    OR {{ count }} > 0
{% endfor %}
{{ "{%- endif %}" }}
{% endif %}
)
{%- if where %} AND {{ where }}{% endif %}
