{# Whether columns of a table are the sizes of the groups of another one: its cells beside these groups. #}
WITH both_tables AS (
    SELECT {% for dimension in dimensions %}{{ dimension }} AS d{{ loop.index0 }}, {% endfor %}1 AS cells, 0 AS size{% for count in counts %}, {{ count }} AS n{{ loop.index0 }}{% endfor %}

    FROM {{ source }}
    UNION ALL
    SELECT {% for dimension in others %}{{ dimension }} AS d{{ loop.index0 }}, {% endfor %}0 AS cells, COUNT(*) AS size{% for _ in counts %}, NULL AS n{{ loop.index0 }}{% endfor %}

    FROM {{ other }}
    GROUP BY {{ others | join(", ") }}
),
beside AS (
    SELECT SUM(cells) AS cells, SUM(size) AS size{% for _ in counts %}, MAX(n{{ loop.index0 }}) AS n{{ loop.index0 }}{% endfor %}

    FROM both_tables
    GROUP BY {% for _ in dimensions %}{{ ", " if not loop.first }}d{{ loop.index0 }}{% endfor %}

)
SELECT
    SUM(cells) AS total,
    MAX(cells) AS most,
    SUM(CASE WHEN cells > 0 AND size > 0 THEN 1 ELSE 0 END) AS matched,
    SUM(CASE WHEN cells > 0 AND size > 1 THEN 1 ELSE 0 END) AS larger
    {% for _ in counts %}
    , SUM(CASE WHEN cells > 0 AND size > 0 AND n{{ loop.index0 }} IS NOT NULL THEN 1 ELSE 0 END) AS known_{{ loop.index0 }}
    , SUM(CASE WHEN cells > 0 AND size > 0 AND n{{ loop.index0 }} = size THEN 1 ELSE 0 END) AS equal_{{ loop.index0 }}
    {% endfor %}
FROM beside
