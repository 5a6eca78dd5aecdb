/* sqlaudit: events_memory */
SELECT CURRENT_SETTING('memory_limit') AS memory
