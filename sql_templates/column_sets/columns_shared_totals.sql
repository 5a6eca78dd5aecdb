{# Of the keys that rows share: how many, how many rows have one, the fewest rows of a key, rows of keys with less than k
   rows, ordered pairs of different rows with one key. #}
SELECT
    COUNT(*) AS shared,
    SUM(members) AS member_rows,
    MIN(members) AS smallest,
    SUM(CASE WHEN members < {{ k }} THEN members ELSE 0 END) AS at_risk,
    SUM(CAST(members AS {{ wide }}) * (members - 1)) AS pairs
FROM {{ source }}
