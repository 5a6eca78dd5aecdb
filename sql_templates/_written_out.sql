{# Small pieces of standalone statements that need nothing but names and numbers. The dbt package holds them word by
   word, so no piece may import another file, and each is SQL that every dialect shares. #}

{# The columns of a check under short names: q1, q2, … the quasi-identifiers, s the sensitive attribute, e the entity.
   `solo` numbers the rows that form a class of their own (NULL read as distinct). #}
{% macro target_columns(keys, sensitive, entity, solo) -%}
{% for key in keys %}{{ ", " if not loop.first }}{{ key }} AS q{{ loop.index }}{% endfor %}
{%- if solo %}, CASE WHEN {% for key in keys %}{{ key }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER (ORDER BY {{ keys[0] }}) END AS solo{% endif %}
{%- if entity is not none %}, {{ entity }} AS e{% endif %}
{%- if sensitive is not none %}, {{ sensitive }} AS s{% endif %}
{%- endmacro %}

{# The names of the class key's columns. #}
{% macro key_names(keys, solo) -%}
{% for key in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{{ ", solo" if solo }}
{%- endmacro %}

{# Column sets (lists of places in `columns`, from 1 on) with the rows, or persons, that each puts into classes below k.
   has_1, has_2, … say which columns a set has. #}
{% macro column_sets(source, columns, sets, k, entity) -%}
WITH target AS (
    SELECT {% for column in columns %}{{ column }} AS q{{ loop.index }}, {% endfor %}{{ entity if entity is not none else "1" }} AS e
    FROM {{ source }}
),
counted AS (
{% for set in sets %}
    {{ "UNION ALL" if not loop.first }}
    SELECT
        {% for column in columns %}{{ 1 if loop.index in set else 0 }} AS has_{{ loop.index }}, {% endfor %}

        {{ set | length }} AS columns_in_set,
        COUNT(*) AS classes,
        SUM(members) AS members,
        MIN(members) AS smallest,
        SUM(CASE WHEN members < {{ k }} THEN members ELSE 0 END) AS at_risk
    FROM (
        SELECT {% for place in set %}q{{ place }}, {% endfor %}{{ "COUNT(DISTINCT e)" if entity is not none else "COUNT(*)" }} AS members
        FROM target
        GROUP BY {% for place in set %}q{{ place }}{{ ", " if not loop.last }}{% endfor %}

    ) AS classes
{% endfor %}
)
{%- endmacro %}

{# The violating sets of `counted`: more than numerator/denominator of the rows are at risk; and how many of the smaller
   violating sets each contains (none for a minimal set). #}
{% macro violating_sets(columns, numerator, denominator) -%}
violating AS (
    SELECT *
    FROM counted
    WHERE at_risk * {{ denominator }} > members * {{ numerator }}
),
compared AS (
    SELECT
        {% for column in columns %}larger.has_{{ loop.index }}, {% endfor %}

        larger.columns_in_set, larger.classes, larger.members, larger.smallest, larger.at_risk,
        SUM(CASE WHEN smaller.columns_in_set < larger.columns_in_set{% for column in columns %} AND smaller.has_{{ loop.index }} <= larger.has_{{ loop.index }}{% endfor %} THEN 1 ELSE 0 END) AS violating_subsets
    FROM violating AS larger
    CROSS JOIN violating AS smaller
    GROUP BY {% for column in columns %}larger.has_{{ loop.index }}, {% endfor %}larger.columns_in_set, larger.classes, larger.members, larger.smallest, larger.at_risk
)
{%- endmacro %}
