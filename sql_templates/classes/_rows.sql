{# From rows to classes: what audits and standalone statements have in common. SQL that every dialect shares; the dbt
   package holds it too, so nothing is imported here. #}

{# The columns of an audit under short names: q1, q2, … the quasi-identifiers, s the sensitive attribute, e the entity.
   `solo` numbers the rows that form a class of their own (NULL read as distinct), in an order where dialects ask for
   one. #}
{% macro target_columns(keys, sensitive, entity, solo, numbering="") -%}
{% for key in keys %}{{ ",\n        " if not loop.first }}{{ key }} AS q{{ loop.index }}{% endfor %}
{%- if solo and keys %},
        CASE WHEN {% for key in keys %}{{ key }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER ({{ numbering }}) END AS solo
{%- endif %}
{%- if entity is not none %}{{ ",\n        " if keys }}{{ entity }} AS e{% endif %}
{%- if sensitive is not none %}{{ ",\n        " if keys or entity is not none }}{{ sensitive }} AS s{% endif %}
{%- endmacro %}

{# The names of the class key's columns. #}
{% macro key_columns(keys, solo) -%}
{% for key in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{{ ", solo" if solo and keys }}
{%- endmacro %}

{# Persons with their values and rows: a person with two values is there twice. #}
{% macro members_of(key, source="target") -%}
SELECT {{ key ~ ", " if key }}e, s, COUNT(*) AS row_count
    FROM {{ source }}
    GROUP BY {{ key ~ ", " if key }}e, s
{%- endmacro %}

{# The classes of `target` and of `population` side by side: `members` and `table_rows` of the one, `people` of the other.
   Both are added up in one GROUP BY, in which NULLs are equal. #}
{% macro beside_population(key, entity, population_entity) -%}
both_sides AS (
    SELECT {{ key ~ ", " if key }}{{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS members, COUNT(*) AS table_rows, 0 AS people
    FROM target
    {{ "GROUP BY " ~ key if key }}
    UNION ALL
    SELECT {{ key ~ ", " if key }}0, 0, {{ "COUNT(DISTINCT e)" if population_entity is not none else "COUNT(*)" }}
    FROM population
    {{ "GROUP BY " ~ key if key }}
),
matched AS (
    SELECT
        {{ key ~ "," if key }}
        CAST(SUM(members) AS BIGINT) AS members,
        CAST(SUM(table_rows) AS BIGINT) AS table_rows,
        CAST(SUM(people) AS BIGINT) AS people
    FROM both_sides
    {{ "GROUP BY " ~ key if key }}
)
{%- endmacro %}
