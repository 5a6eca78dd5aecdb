{# A table with an exact number of equivalence classes. Row i lies in class i while every class still needs a row, then
   in a hashed one; with skew every second of the others lies in class 0. A class's quasi-identifiers are the digits of
   its number; every second one is text. DuckDB's hash of several arguments ends with an exclusive or of the last one, so
   that salts alone leave the draws dependent: they are hashed once more. #}
WITH placed AS (
    SELECT
        i,
        CASE
            WHEN i < {{ classes }} THEN i
            {% if skew %}
            WHEN hash(hash(i, {{ seed }}, 'skew')) % 2 = 0 THEN 0
            {% endif %}
            ELSE CAST(hash(hash(i, {{ seed }}, 'class')) % {{ classes }} AS BIGINT)
        END AS class
    FROM range({{ first }}, {{ rows }}) AS numbers(i)
)
SELECT
{% for place in range(qis) %}
    {% set digit = "class // " ~ radix ** place ~ " % " ~ radix %}
    {{ "'v' || " ~ digit if place % 2 else "CAST(" ~ digit ~ " AS INTEGER)" }} AS q{{ place + 1 }},
{% endfor %}
    -- squared, so that the first values are common and the last ones rare
    'condition ' || CAST(floor({{ values }} * pow((hash(hash(i, {{ seed }}, 'value')) % 1000000) / 1e6, 2)) AS INTEGER) AS s
FROM placed
