{# How many people a table has and, of each measure, how many of them have several values, how many have different ones, and
   whether there are different ones at all. #}
SELECT
    COUNT(p) AS people
    {% for _ in measures %}
    , COALESCE(SUM(CASE WHEN c{{ loop.index0 }} > 1 THEN 1 ELSE 0 END), 0) AS several_{{ loop.index0 }}
    , COALESCE(SUM(CASE WHEN lo{{ loop.index0 }} < hi{{ loop.index0 }} THEN 1 ELSE 0 END), 0) AS different_{{ loop.index0 }}
    , CASE WHEN MIN(lo{{ loop.index0 }}) < MAX(hi{{ loop.index0 }}) THEN 1 ELSE 0 END AS varies_{{ loop.index0 }}
    {% endfor %}
FROM (
    SELECT
        {{ entity }} AS p
        {% for measure in measures %}
        , COUNT({{ measure }}) AS c{{ loop.index0 }}, MIN({{ measure }}) AS lo{{ loop.index0 }}, MAX({{ measure }}) AS hi{{ loop.index0 }}
        {% endfor %}
    FROM {{ source }}
    GROUP BY {{ entity }}
) AS by_person
