/* sqlaudit: events_tally_nothing */
SELECT CAST(NULL AS INTEGER) AS event, CAST(NULL AS BIGINT) AS sets WHERE FALSE
