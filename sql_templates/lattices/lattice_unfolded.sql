{# The rows of a table again, from its combinations of numbers and how many rows each has. #}
SELECT {{ names | join(", ") }}
FROM (SELECT {{ names | join(", ") }}, UNNEST(RANGE(c)) AS copy FROM {{ cells }}) AS unfolded
