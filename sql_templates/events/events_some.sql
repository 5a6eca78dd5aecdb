{# One row when the relation has any. #}
SELECT 1 AS some FROM {{ relation }} LIMIT 1
