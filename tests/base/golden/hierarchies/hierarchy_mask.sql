/* sqlaudit: hierarchy_mask */
LEFT(CAST(v AS VARCHAR), GREATEST(LENGTH(CAST(v AS VARCHAR)) - 1, 0)) || REPEAT('*', LEAST(LENGTH(CAST(v AS VARCHAR)), 1))
