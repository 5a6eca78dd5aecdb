{# Who holds which sensitive value; a missing one is no value. #}
SELECT DISTINCT CAST(e AS INTEGER) AS person, {{ column }} AS value FROM {{ source }} WHERE {{ column }} <> 0
