-- A statement whose client is gone ends within this interval. Some platforms refuse the setting.
SELECT pg_catalog.set_config('client_connection_check_interval', %(interval)s, TRUE)
