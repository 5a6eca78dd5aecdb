/* sqlaudit: hierarchy_own */
CAST(v AS VARCHAR)
