{# The rows, grouped by class and person: the number of the class, the person, and the rows. Every later count of people
   starts from here. With `kept_lanes` also which sensitive values a person has there: `present`, a bit for each lane. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
{{ parts.numbered(rows.key_columns(keys, false)) }}
{%- if kept_lanes %},
bits AS MATERIALIZED (
    SELECT s, CAST(1 AS BIGINT) << lane AS bit
    FROM {{ kept_lanes }} AS lanes
    WHERE NOT s IS NULL
)
{%- endif %}

SELECT
    combination, e, COUNT(*) AS row_count
    {% if kept_lanes %}
    , BIT_OR({{ "COALESCE(bit, " ~ null_bit ~ ")" if null_bit else "bit" }}) AS present
    {% endif %}
FROM numbered_rows AS member
{% if kept_lanes %}
LEFT JOIN bits ON member.s = bits.s
{% endif %}
GROUP BY combination, e
