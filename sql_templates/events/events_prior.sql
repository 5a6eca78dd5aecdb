{# How many persons hold the most frequent sensitive value. #}
SELECT MAX(holders) AS most FROM (SELECT COUNT(*) AS holders FROM {{ held }} GROUP BY value) AS counted
