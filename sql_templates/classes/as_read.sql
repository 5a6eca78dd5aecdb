{# A text as its reader takes it: characters that nobody sees are left out, spaces of any kind and number are one, and case
   does not count. #}
LOWER(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CAST({{ value }} AS VARCHAR), '[{{ unseen }}]', '', 'g'), '[[:space:]{{ spaces }}]+', ' ', 'g')))
