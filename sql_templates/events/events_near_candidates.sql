{# How many persons fit the rarest events of sets, over all sets. #}
SELECT SUM(dictionary.persons) AS candidates
FROM {{ sets }} AS sets
JOIN {{ dictionary }} AS dictionary ON dictionary.event = sets.e1
