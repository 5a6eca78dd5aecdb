{# A release whose quasi-identifiers were rewritten. `pieces` says for the copies `first_copy` to `last_copy` of each
   pattern into which group they go (0 = left out) and, column by column, at which level they are published. `expected` is
   the table as it was when that was decided, in ranks and counts. When the table has changed since in any rank or count, or
   when the rows of a group would not be published alike, the release has no row at all instead of wrong ones. #}
{% import "remedies/_remedy.sql" as remedy with context %}
WITH {{ remedy.patterns() }},
expected AS (
    SELECT *
    FROM {{ expected }} AS listed(class_number, size{% for _ in keys %}, c{{ loop.index }}{% endfor %})
),
pieces AS (
    SELECT *
    FROM {{ pieces }} AS listed(class_number, first_copy, last_copy, group_number{% for _ in columns %}, l{{ loop.index }}{% endfor %})
),
unchanged AS (
    SELECT CASE WHEN COUNT(*) = {{ count }} AND COUNT(expected.class_number) = {{ count }} THEN 1 ELSE 0 END AS holds
    FROM coded
    LEFT JOIN expected
        ON coded.class_number = expected.class_number AND coded.size = expected.size{% for _ in keys %} AND coded.c{{ loop.index }} = expected.c{{ loop.index }}{% endfor %}

),
{% if dialect == "postgres" %}
numbered AS (
    SELECT
        given.*,
        DENSE_RANK() OVER (ORDER BY {% for _ in keys %}{{ remedy.key(loop.index) }} NULLS LAST{{ ", " if not loop.last }}{% endfor %}) AS class_number
    FROM given
),
{% else %}
numbered AS (
    SELECT
        given.*,
        patterns.class_number
    FROM given
    JOIN patterns
        ON {% for _ in keys %}given.q{{ loop.index }} IS NOT DISTINCT FROM patterns.q{{ loop.index }}{{ " AND " if not loop.last }}{% endfor %}

),
{% endif %}
{% if parting %}
parting AS (
    SELECT DISTINCT class_number
    FROM pieces
    WHERE first_copy > 1
),
copied AS (
    SELECT
        numbered.*,
        ROW_NUMBER() OVER (PARTITION BY class_number ORDER BY {{ remedy.drawn(salt) }}) AS copy_number
    FROM numbered
    WHERE class_number IN (SELECT class_number FROM parting)
),
{% endif %}
rewritten AS (
    SELECT
        numbered.*,
        pieces.group_number{% for _ in columns %}, pieces.l{{ loop.index }}{% endfor %}

    FROM numbered
    JOIN pieces ON numbered.class_number = pieces.class_number
    WHERE pieces.group_number > 0
    {% if parting %}
        AND NOT pieces.class_number IN (SELECT class_number FROM parting)
    UNION ALL
    SELECT
    {% for _ in keys %}
        copied.q{{ loop.index }},
    {% endfor %}
    {% for _ in others %}
        copied.v{{ loop.index }},
    {% endfor %}
        copied.class_number,
        pieces.group_number{% for _ in columns %}, pieces.l{{ loop.index }}{% endfor %}

    FROM copied
    JOIN pieces
        ON copied.class_number = pieces.class_number AND copied.copy_number BETWEEN pieces.first_copy AND pieces.last_copy
    WHERE pieces.group_number > 0
    {% endif %}
),
{% if spanned %}
spans AS (
    SELECT
        group_number,
        COUNT(*) AS members
    {% for position in spanned %}
        , COUNT(q{{ position }}) AS known_{{ position }}
        , MIN({{ remedy.key(position) }}) AS low_{{ position }}
        , MAX({{ remedy.key(position) }}) AS high_{{ position }}
    {% endfor %}
    FROM rewritten
    GROUP BY group_number
),
{% endif %}
labelled AS (
    SELECT
        rewritten.*
    {% for column in columns %}
        {% set place = loop.index %}
        {% if column.plain %}
        , rewritten.q{{ place }} AS r{{ place }}
        {% else %}
        , CASE rewritten.l{{ place }}
        {% for level in column.levels %}
            WHEN {{ loop.index0 }} THEN {% if level.kind == "keep" %}CAST(rewritten.q{{ place }} AS VARCHAR)
            {%- elif level.kind == "star" %}'*'
            {%- elif level.kind == "label" %}CAST({{ level.expression }} AS VARCHAR)
            {%- else %}CASE
                WHEN spans.known_{{ place }} = 0 THEN NULL
                WHEN spans.known_{{ place }} < spans.members THEN '*'
                WHEN spans.low_{{ place }} = spans.high_{{ place }} THEN CAST(spans.low_{{ place }} AS VARCHAR)
                ELSE '[' || CAST(spans.low_{{ place }} AS VARCHAR) || ', ' || CAST(spans.high_{{ place }} AS VARCHAR) || ']'
            END{% endif %}

        {% endfor %}
        END AS r{{ place }}
        {% endif %}
    {% endfor %}
    FROM {{ labelled }}
),
{% if checked %}
alike AS (
    SELECT CASE WHEN COUNT(*) = 0 THEN 1 ELSE 0 END AS holds
    FROM (
        SELECT group_number
        FROM labelled
        GROUP BY group_number
        HAVING 1 = 0{% for position in checked %} OR MIN(r{{ position }}) <> MAX(r{{ position }}) OR (COUNT(r{{ position }}) > 0 AND COUNT(r{{ position }}) < COUNT(*)){% endfor %}

    ) AS unlike
),
{% endif %}
released AS (
    SELECT
    {% for column in published %}
        labelled.{{ column.from }} AS {{ column.name }}{{ "," if not loop.last }}
    {% endfor %}
    FROM labelled
    CROSS JOIN unchanged
    {% if checked %}
    CROSS JOIN alike
    {% endif %}
    WHERE unchanged.holds = 1{{ " AND alike.holds = 1" if checked }}
)
SELECT *
FROM released
{% if ordered %}
ORDER BY
{% for column in published %}
    CAST({{ column.name }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{{ "," if not loop.last }}
{% endfor %}
{% endif %}
