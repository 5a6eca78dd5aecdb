{# Those of the synthetic rows `left` that differ from all rows of a table (x) in the column of `digit` and in another one: without
   the digit, their numbers are none of the table's. Rows are numbers, as in synthetic_coded.sql. #}
{% macro without_digit(word) %}{{ word }}{% if word == digit.word %} - ({{ word }} // {{ digit.weight }}) % {{ digit.domain }} * {{ digit.weight }}{% endif %}{% endmacro %}
SELECT unlike.*
FROM {{ left }} AS unlike
ANTI JOIN (
    SELECT {% for word in words %}{{ without_digit(word) }} AS own_{{ word }}{{ ", " if not loop.last }}{% endfor %}

    FROM {{ alike }}
    WHERE {{ x }} > 0
) AS own ON {% for word in words %}{{ without_digit(word) }} = own_{{ word }}{{ " AND " if not loop.last }}{% endfor %}

WHERE s > 0 AND {{ x }} = 0
