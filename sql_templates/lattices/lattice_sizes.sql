{# How many classes of each size every node has. #}
SELECT id, n AS size, COUNT(*) AS classes
FROM {{ grouped }} AS class
GROUP BY id, n
ORDER BY id, n
