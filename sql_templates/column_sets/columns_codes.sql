{# Every column as small whole numbers: NULL is 0, values are 1, 2, … Equal values have equal codes and nothing else is
   promised. Whole numbers in a narrow range keep their distance from the smallest one (`wide`: in numbers of more than
   64 bits), others get a dictionary; what is kept stays. #}
{% import "base/_numbers.sql" as numbers with context %}
WITH lows AS (
    SELECT
    {% for column in columns if column.offset %}
        MIN({{ column.name }}) AS low_{{ column.name }},
    {% endfor %}
        COUNT(*) AS total
    FROM {{ source }}
)
{% for column in columns if not column.offset %}
, {{ numbers.dictionary("dictionary_" ~ column.name, "SELECT DISTINCT " ~ column.name ~ " AS value FROM " ~ source ~ " WHERE " ~ column.name ~ " IS NOT NULL", many, ordered) }}
{% endfor %}
SELECT
{% for name in kept %}
    source.{{ name }},
{% endfor %}
{% for column in columns %}
    {% if column.offset %}
    CAST(COALESCE(CAST(source.{{ column.name }} AS {{ "HUGEINT" if column.wide else "BIGINT" }}) - low_{{ column.name }} + 1, 0) AS INTEGER) AS {{ column.name }}{{ "," if not loop.last }}
    {% else %}
    CAST(COALESCE(dictionary_{{ column.name }}.code, 0) AS INTEGER) AS {{ column.name }}{{ "," if not loop.last }}
    {% endif %}
{% endfor %}
FROM {{ source }} AS source
CROSS JOIN lows
{% for column in columns if not column.offset %}
LEFT JOIN dictionary_{{ column.name }} ON source.{{ column.name }} = dictionary_{{ column.name }}.value
{% endfor %}
