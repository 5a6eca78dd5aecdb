{# The largest share of persons with a set who hold one value, as a fraction in lowest terms. Rounding keeps the order, so
   that the largest is among those whose rounded share is. #}
SELECT DISTINCT most // GCD(most, persons) AS most, persons // GCD(most, persons) AS persons
FROM {{ learnt }}
WHERE CAST(most AS DOUBLE) / persons = (SELECT MAX(CAST(most AS DOUBLE) / persons) FROM {{ learnt }})
