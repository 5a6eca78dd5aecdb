{#- Made by docs/make_dbt.py from gates/standalone/_written_out.sql: change those, and run it again. -#}
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
target AS (
    SELECT {% for column in columns %}{{ ", " if not loop.first }}{{ column }} AS q{{ loop.index }}{% endfor %}{% if entity is not none %}, {{ entity }} AS e{% endif %}

    FROM {{ source }}
),
counted AS (
{% for set in sets %}
{% set key %}{% for place in set %}q{{ place }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
    {{ "UNION ALL" if not loop.first }}
    SELECT
    {% for column in columns %}
        {{ 1 if loop.index in set else 0 }} AS has_{{ loop.index }},
    {% endfor %}
        {{ set | length }} AS columns_in_set,
        MIN(members) AS smallest,
    {% if entity is not none %}
        COUNT(DISTINCT e) AS everybody,
        COUNT(DISTINCT CASE WHEN members < {{ k }} THEN e END) AS at_risk
    FROM (
        SELECT e, COUNT(*) OVER (PARTITION BY {{ key }}) AS members
        FROM (SELECT DISTINCT e, {{ key }} FROM target) AS persons
    ) AS classes
    {% else %}
        COALESCE(SUM(members), 0) AS everybody,
        COALESCE(SUM(CASE WHEN members < {{ k }} THEN members ELSE 0 END), 0) AS at_risk
    FROM (
        SELECT COUNT(*) AS members
        FROM target
        GROUP BY {{ key }}
    ) AS classes
    {% endif %}
{% endfor %}
)
{%- endmacro %}

{# The violating sets of `counted`: more than numerator/denominator of the rows are at risk; and how many of the smaller
   violating sets each contains (none for a minimal set). Rows without a person leave everything in doubt. #}
{% macro violating_sets(columns, numerator, denominator, entity) -%}
violating AS (
    SELECT *
    FROM counted
    WHERE at_risk * {{ denominator }} > everybody * {{ numerator }}
    {% if entity is not none %}
        OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    {% endif %}
),
compared AS (
    SELECT
    {% for column in columns %}
        larger.has_{{ loop.index }},
    {% endfor %}
        larger.columns_in_set, larger.smallest, larger.everybody, larger.at_risk,
        SUM(CASE WHEN smaller.columns_in_set < larger.columns_in_set{% for column in columns %} AND smaller.has_{{ loop.index }} <= larger.has_{{ loop.index }}{% endfor %} THEN 1 ELSE 0 END) AS violating_subsets
    FROM violating AS larger
    CROSS JOIN violating AS smaller
    GROUP BY
    {% for column in columns %}
        larger.has_{{ loop.index }},
    {% endfor %}
        larger.columns_in_set, larger.smallest, larger.everybody, larger.at_risk
)
{%- endmacro %}

{# The columns of a set in words: `names` are texts in SQL's quotes. #}
{% macro set_in_words(names) -%}
SUBSTR({% for name in names %}CASE WHEN has_{{ loop.index }} = 1 THEN ' + ' || {{ name }} ELSE '' END{{ " || " if not loop.last }}{% endfor %}, 4)
{%- endmacro %}
