{# How many rows there are, and how many persons they are about; rows without one count as none. #}
SELECT COUNT(*) AS row_total, COUNT(DISTINCT {{ entity }}) AS persons
FROM {{ source }} AS target
