{# The rows of several tables under one another with the table's number, and how many rows of each are alike: d of the original,
   s of the synthetic table, h of the holdout, if there is one. Grouping the tables together pairs their values, NULL with NULL,
   and needs no join. `sides` has of each table its source and columns; `keys` says how many of the columns are keys: with
   `apart`, a row that lacks one is a group of its own, which `own` numbers. #}
{% macro names(columns, apart) %}{% for _ in columns %}c{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}{{ ", own" if apart }}{% endmacro %}

{% macro stacked(sides) %}
    {% for one in sides %}
        SELECT {% for column in one.columns %}{{ column }} AS c{{ loop.index }}, {% endfor %}{{ loop.index0 }} AS side
        FROM {{ one.source }} AS side_{{ loop.index }}
        {{ "UNION ALL" if not loop.last }}
    {% endfor %}
{% endmacro %}

{% macro counts(sides) %}{% for letter in ("d", "s", "h")[:sides | length] %},
    COUNT(CASE WHEN side = {{ loop.index0 }} THEN 1 END) AS {{ letter }}{% endfor %}{% endmacro %}

{% macro counted(sides, apart=false, keys=0) %}
SELECT
    {{ names(sides[0].columns, apart) }}{{ counts(sides) }}
FROM (
    {% if apart %}
    SELECT given.*, CASE WHEN {% for place in range(1, keys + 1) %}c{{ place }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN ROW_NUMBER() OVER () END AS own
    FROM (
    {% endif %}
    {{ stacked(sides) }}
    {% if apart %}
    ) AS given
    {% endif %}
) AS stacked
GROUP BY {{ names(sides[0].columns, apart) }}
{% endmacro %}
