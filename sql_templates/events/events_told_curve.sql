{# Persons of whom so many known events tell a sensitive value, and persons whom they tell or expose. #}
SELECT
    COUNT(*) FILTER (WHERE told.known <= {{ size }}) AS told,
    COUNT(*) FILTER (WHERE told.known <= {{ size }} OR state.exposed <= {{ size }}) AS exposed
FROM {{ state }} AS state
LEFT JOIN {{ told }} AS told USING (person)
