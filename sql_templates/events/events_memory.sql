{# How much memory the workbench may use, as it says it. #}
SELECT CURRENT_SETTING('memory_limit') AS memory
