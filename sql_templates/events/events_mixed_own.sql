{# Who has which event or sensitive value, by their common number. #}
SELECT own.person, mixed.event{{ ", mixed.repeated" if repeats }}
FROM {{ own }} AS own
JOIN {{ mixed }} AS mixed ON mixed.place = 0 AND mixed.item = own.event
{% for place, held in helds %}
UNION ALL
SELECT held.person, mixed.event{{ ", NULL" if repeats }}
FROM {{ held }} AS held
JOIN {{ mixed }} AS mixed ON mixed.place = {{ place }} AND mixed.item = held.value
{% endfor %}
