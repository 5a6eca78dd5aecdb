{# Who holds which value of one sensitive column, by the number that it has beside events. #}
SELECT held.person, mixed.event AS value
FROM {{ held }} AS held
JOIN {{ mixed }} AS mixed ON mixed.place = {{ place }} AND mixed.item = held.value
