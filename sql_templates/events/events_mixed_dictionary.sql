{# Events and sensitive values numbered together, from the rarest to the most frequent; what they were by `place`, 0 for
   events, and `item`. #}
WITH items AS (
    SELECT persons, event AS item, repeated, 0 AS place FROM {{ dictionary }}
{% for place, held in helds %}
    UNION ALL
    SELECT COUNT(*), value, NULL, {{ place }} FROM {{ held }} GROUP BY value
{% endfor %}
),
numbered AS (
    SELECT *, CAST(ROW_NUMBER() OVER (ORDER BY persons, place, item) AS INTEGER) AS event FROM items
)
SELECT numbered.persons, numbered.event, numbered.item, numbered.place, origin.event AS repeated
FROM numbered
LEFT JOIN numbered AS origin ON numbered.place = 0 AND origin.place = 0 AND origin.item = numbered.repeated
