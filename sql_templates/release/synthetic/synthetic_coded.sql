{# The distinct rows of all tables by a few numbers, k1, k2, …, with how often each table has them: d, s and h. Values are coded as
   1, 2, … and NULL as 0; a number has the codes of several columns as its `digits`: of each column the number (`word`), the
   weight in it, and how many codes there are (`domain`). Equal numbers are equal rows, and nothing else. #}
{% import "release/synthetic/_stacked.sql" as rows %}
WITH stacked AS NOT MATERIALIZED (
    {{ rows.stacked(sides) }}
),
coded AS NOT MATERIALIZED (
    SELECT
        {% for word in words %}
        {% for digit in digits %}{% if digit.word == word %}COALESCE(dictionary_{{ loop.index }}.code, 0) * {{ digit.weight }} + {% endif %}{% endfor %}0 AS {{ word }},
        {% endfor %}
        side
    FROM stacked
    {% for digit in digits %}
    LEFT JOIN (
        SELECT v, ROW_NUMBER() OVER () AS code
        FROM (SELECT DISTINCT c{{ loop.index }} AS v FROM stacked WHERE c{{ loop.index }} IS NOT NULL) AS seen
    ) AS dictionary_{{ loop.index }} ON c{{ loop.index }} = dictionary_{{ loop.index }}.v
    {% endfor %}
)
SELECT
    {{ words | join(", ") }}{{ rows.counts(sides) }}
FROM coded
GROUP BY {{ words | join(", ") }}
