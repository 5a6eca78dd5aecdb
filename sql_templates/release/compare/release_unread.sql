{# The texts of cells that are neither values nor labels; they are parsed. #}
SELECT code, t
FROM {{ readings }} AS readings
WHERE reading = 'other'
ORDER BY code
LIMIT {{ limit }}
