{# The sets of one event that several persons have, as the search extends them. #}
SELECT event AS e1, persons, persons AS least_part FROM {{ dictionary }} WHERE repeated IS NULL AND persons >= 2
