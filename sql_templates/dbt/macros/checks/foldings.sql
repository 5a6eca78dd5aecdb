{#- Made by docs/make_dbt.py from sqlaudit/gates/standalone/names.py: change those, and run it again. -#}
{% macro letters_of(value) %}{{ return(adapter.dispatch('letters_of', 'sqlaudit')(value)) }}{% endmacro %}
{% macro athena__letters_of(value) -%}{%- endmacro %}
{% macro bigquery__letters_of(value) -%}CAST(CAST({{ value }} AS STRING) AS BYTES){%- endmacro %}
{% macro clickhouse__letters_of(value) -%}{%- endmacro %}
{% macro duckdb__letters_of(value) -%}ENCODE(CAST({{ value }} AS VARCHAR)){%- endmacro %}
{% macro mariadb__letters_of(value) -%}CAST({{ value }} AS BINARY){%- endmacro %}
{% macro mysql__letters_of(value) -%}CAST({{ value }} AS BINARY){%- endmacro %}
{% macro postgres__letters_of(value) -%}CAST({{ value }} AS TEXT) COLLATE "C"{%- endmacro %}
{% macro redshift__letters_of(value) -%}FNV_HASH({{ value }}){%- endmacro %}
{% macro snowflake__letters_of(value) -%}TO_BINARY(CAST({{ value }} AS VARCHAR), 'UTF-8'){%- endmacro %}
{% macro spark__letters_of(value) -%}CAST(CAST({{ value }} AS STRING) AS BINARY){%- endmacro %}
{% macro sqlite__letters_of(value) -%}CAST({{ value }} AS BLOB){%- endmacro %}
{% macro sqlserver__letters_of(value) -%}CAST({{ value }} AS VARBINARY(8000)){%- endmacro %}
{% macro trino__letters_of(value) -%}{%- endmacro %}
{% macro default__letters_of(value) -%}{%- endmacro %}

{% macro folded(value) %}{{ return(adapter.dispatch('folded', 'sqlaudit')(value)) }}{% endmacro %}
{% macro athena__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS VARCHAR), CHR(9), ' '), CHR(10), ' '), CHR(13), ' '), ' +', ' '))){%- endmacro %}
{% macro bigquery__folded(value) -%}LOWER(CASE WHEN REGEXP_CONTAINS(CAST({{ value }} AS STRING), r'[^!-~]') THEN REGEXP_REPLACE(REGEXP_REPLACE(NORMALIZE_AND_CASEFOLD(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CASE WHEN REGEXP_CONTAINS(CAST({{ value }} AS STRING), r'[\x{FF01}-\x{FF9F}\x{FFA1}-\x{FFEF}]') THEN NORMALIZE(CAST({{ value }} AS STRING), NFKC) ELSE CAST({{ value }} AS STRING) END, r'[\x{0}\x{1}-\x{8}\x{E}-\x{1B}\x{7F}-\x{84}\x{86}-\x{9F}\x{AD}\x{34F}\x{600}-\x{605}\x{61C}\x{6DD}\x{70F}\x{890}-\x{891}\x{8E2}\x{115F}-\x{1160}\x{17B4}-\x{17B5}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{2800}\x{2D7F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF0}-\x{FFFC}\x{1107F}\x{110BD}\x{110CD}\x{13430}-\x{1343F}\x{16FE4}\x{1BCA0}-\x{1BCA3}\x{1D159}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]', ''), r'[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}-\x{2029}\x{202F}\x{205F}\x{3000}]+', ' ')), NFC), r'i\x{307}', 'i'), r'\x{DF}', 'ss') ELSE CAST({{ value }} AS STRING) END){%- endmacro %}
{% macro clickhouse__folded(value) -%}lowerUTF8(CASE WHEN match(CAST({{ value }} AS Nullable(String)), '[^!-~]') THEN replaceRegexpAll(replaceRegexpAll(normalizeUTF8NFC(lowerUTF8(upperUTF8(TRIM(replaceRegexpAll(replaceRegexpAll(CASE WHEN match(CAST({{ value }} AS Nullable(String)), '[\\x{FF01}-\\x{FF9F}\\x{FFA1}-\\x{FFEF}]') THEN normalizeUTF8NFKC(CAST({{ value }} AS Nullable(String))) ELSE CAST({{ value }} AS Nullable(String)) END, '[\\x{0}\\x{1}-\\x{8}\\x{E}-\\x{1B}\\x{7F}-\\x{84}\\x{86}-\\x{9F}\\x{AD}\\x{34F}\\x{600}-\\x{605}\\x{61C}\\x{6DD}\\x{70F}\\x{890}-\\x{891}\\x{8E2}\\x{115F}-\\x{1160}\\x{17B4}-\\x{17B5}\\x{180B}-\\x{180F}\\x{200B}-\\x{200F}\\x{202A}-\\x{202E}\\x{2060}-\\x{206F}\\x{2800}\\x{2D7F}\\x{3164}\\x{FE00}-\\x{FE0F}\\x{FEFF}\\x{FFA0}\\x{FFF0}-\\x{FFFC}\\x{1107F}\\x{110BD}\\x{110CD}\\x{13430}-\\x{1343F}\\x{16FE4}\\x{1BCA0}-\\x{1BCA3}\\x{1D159}\\x{1D173}-\\x{1D17A}\\x{E0000}-\\x{E0FFF}]', ''), '[\\x{9}-\\x{D}\\x{1C}-\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}-\\x{2029}\\x{202F}\\x{205F}\\x{3000}]+', ' '))))), 'i\\x{307}', 'i'), '\\x{DF}', 'ss') ELSE CAST({{ value }} AS Nullable(String)) END){%- endmacro %}
{% macro duckdb__folded(value) -%}LOWER(CASE WHEN REGEXP_MATCHES(CAST({{ value }} AS VARCHAR), '[^!-~]') THEN REGEXP_REPLACE(REGEXP_REPLACE(NFC_NORMALIZE(LOWER(UPPER(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CAST({{ value }} AS VARCHAR), '[\x{0}\x{1}-\x{8}\x{E}-\x{1B}\x{7F}-\x{84}\x{86}-\x{9F}\x{AD}\x{34F}\x{600}-\x{605}\x{61C}\x{6DD}\x{70F}\x{890}-\x{891}\x{8E2}\x{115F}-\x{1160}\x{17B4}-\x{17B5}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{2800}\x{2D7F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF0}-\x{FFFC}\x{1107F}\x{110BD}\x{110CD}\x{13430}-\x{1343F}\x{16FE4}\x{1BCA0}-\x{1BCA3}\x{1D159}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]', '', 'g'), '[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}-\x{2029}\x{202F}\x{205F}\x{3000}]+', ' ', 'g'))))), 'i\x{307}', 'i', 'g'), '\x{DF}', 'ss', 'g') ELSE CAST({{ value }} AS VARCHAR) END){%- endmacro %}
{% macro mariadb__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CONVERT({{ value }} USING utf8mb4) COLLATE utf8mb4_bin, CHAR(9 USING utf8mb4), ' '), CHAR(10 USING utf8mb4), ' '), CHAR(13 USING utf8mb4), ' '), ' +', ' '))){%- endmacro %}
{% macro mysql__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CONVERT({{ value }} USING utf8mb4) COLLATE utf8mb4_bin, CHAR(9 USING utf8mb4), ' '), CHAR(10 USING utf8mb4), ' '), CHAR(13 USING utf8mb4), ' '), ' +', ' '))){%- endmacro %}
{% macro postgres__folded(value) -%}LOWER(CASE WHEN CAST({{ value }} AS TEXT) COLLATE "C" ~ '[^!-~]' THEN REGEXP_REPLACE(REGEXP_REPLACE(NORMALIZE(LOWER(UPPER(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CASE WHEN CAST({{ value }} AS TEXT) COLLATE "C" ~ '[\U0000FF01-\U0000FF9F\U0000FFA1-\U0000FFEF]' THEN NORMALIZE(CAST({{ value }} AS TEXT) COLLATE "C", NFKC) ELSE CAST({{ value }} AS TEXT) COLLATE "C" END, '[\U00000001-\U00000008\U0000000E-\U0000001B\U0000007F-\U00000084\U00000086-\U0000009F\U000000AD\U0000034F\U00000600-\U00000605\U0000061C\U000006DD\U0000070F\U00000890-\U00000891\U000008E2\U0000115F-\U00001160\U000017B4-\U000017B5\U0000180B-\U0000180F\U0000200B-\U0000200F\U0000202A-\U0000202E\U00002060-\U0000206F\U00002800\U00002D7F\U00003164\U0000FE00-\U0000FE0F\U0000FEFF\U0000FFA0\U0000FFF0-\U0000FFFC\U0001107F\U000110BD\U000110CD\U00013430-\U0001343F\U00016FE4\U0001BCA0-\U0001BCA3\U0001D159\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]', '', 'g'), '[\U00000009-\U0000000D\U0000001C-\U00000020\U00000085\U000000A0\U00001680\U00002000-\U0000200A\U00002028-\U00002029\U0000202F\U0000205F\U00003000]+', ' ', 'g')) COLLATE "default") COLLATE "default") COLLATE "C", NFC), 'i\U00000307', 'i', 'g'), '\U000000DF', 'ss', 'g') ELSE CAST({{ value }} AS TEXT) COLLATE "C" END){%- endmacro %}
{% macro redshift__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS VARCHAR(MAX)), CHR(9), ' '), CHR(10), ' '), CHR(13), ' '), ' +', ' '))){%- endmacro %}
{% macro snowflake__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS VARCHAR), CHR(9), ' '), CHR(10), ' '), CHR(13), ' '), ' +', ' '))){%- endmacro %}
{% macro spark__folded(value) -%}LOWER(CASE WHEN CAST(CAST(CAST({{ value }} AS STRING) AS BINARY) AS STRING) RLIKE r'[^!-~]' THEN REGEXP_REPLACE(REGEXP_REPLACE(LOWER(UPPER(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CAST(CAST(CAST({{ value }} AS STRING) AS BINARY) AS STRING), r'[\x{0}\x{1}-\x{8}\x{E}-\x{1B}\x{7F}-\x{84}\x{86}-\x{9F}\x{AD}\x{34F}\x{600}-\x{605}\x{61C}\x{6DD}\x{70F}\x{890}-\x{891}\x{8E2}\x{115F}-\x{1160}\x{17B4}-\x{17B5}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{2800}\x{2D7F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF0}-\x{FFFC}\x{1107F}\x{110BD}\x{110CD}\x{13430}-\x{1343F}\x{16FE4}\x{1BCA0}-\x{1BCA3}\x{1D159}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]', ''), r'[\x{9}-\x{D}\x{1C}-\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}-\x{2029}\x{202F}\x{205F}\x{3000}]+', ' ')))), r'i\x{307}', 'i'), r'\x{DF}', 'ss') ELSE CAST(CAST(CAST({{ value }} AS STRING) AS BINARY) AS STRING) END){%- endmacro %}
{% macro sqlite__folded(value) -%}LOWER(TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS TEXT), CHAR(9), ' '), CHAR(10), ' '), CHAR(13), ' '), ' ', CHAR(32, 1)), CHAR(1, 32), ''), CHAR(1), ''))){%- endmacro %}
{% macro sqlserver__folded(value) -%}LOWER(TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, CHAR(9), ' '), CHAR(10), ' '), CHAR(13), ' '), ' ', CONCAT(' ', CHAR(1))), CONCAT(CHAR(1), ' '), ''), CHAR(1), ''))){%- endmacro %}
{% macro trino__folded(value) -%}LOWER(TRIM(REGEXP_REPLACE(REPLACE(REPLACE(REPLACE(CAST({{ value }} AS VARCHAR), CHR(9), ' '), CHR(10), ' '), CHR(13), ' '), ' +', ' '))){%- endmacro %}
{% macro default__folded(value) -%}{{ exceptions.raise_compiler_error("sqlaudit: it is not known how this warehouse folds values; say values: exact, which counts them as they are written") }}{%- endmacro %}

{% macro unsure(value) %}{{ return(adapter.dispatch('unsure', 'sqlaudit')(value)) }}{% endmacro %}
{% macro athena__unsure(value) -%}CASE WHEN REGEXP_LIKE({{ value }}, '[^ -~]') THEN 1 ELSE 0 END{%- endmacro %}
{% macro bigquery__unsure(value) -%}0{%- endmacro %}
{% macro clickhouse__unsure(value) -%}0{%- endmacro %}
{% macro duckdb__unsure(value) -%}CASE WHEN REGEXP_MATCHES({{ value }}, '[\x{FF01}-\x{FF9F}\x{FFA1}-\x{FFEF}]') THEN 1 ELSE 0 END{%- endmacro %}
{% macro mariadb__unsure(value) -%}CASE WHEN {{ value }} RLIKE '[^ -~]' OR SUBSTR({{ value }}, 1, 1) IN ('[', '{') THEN 1 ELSE 0 END{%- endmacro %}
{% macro mysql__unsure(value) -%}CASE WHEN {{ value }} RLIKE '[^ -~]' OR SUBSTR({{ value }}, 1, 1) IN ('[', '{') THEN 1 ELSE 0 END{%- endmacro %}
{% macro postgres__unsure(value) -%}CASE WHEN {{ value }} ~ '[^ -~]' AND LOWER(CHR(201)) <> CHR(233) THEN 1 ELSE 0 END{%- endmacro %}
{% macro redshift__unsure(value) -%}CASE WHEN {{ value }} ~ '[^ -~]' OR SUBSTR({{ value }}, 1, 1) IN ('[', '{') THEN 1 ELSE 0 END{%- endmacro %}
{% macro snowflake__unsure(value) -%}CASE WHEN REGEXP_INSTR({{ value }}, '[^ -~]') > 0 OR SUBSTR({{ value }}, 1, 1) IN ('[', '{') THEN 1 ELSE 0 END{%- endmacro %}
{% macro spark__unsure(value) -%}CASE WHEN {{ value }} RLIKE r'[\p{M}\x{1100}-\x{11FF}\x{A960}-\x{A97F}\x{D7B0}-\x{D7FF}\x{F900}-\x{FAFF}\x{FF01}-\x{FF9F}\x{FFA1}-\x{FFEF}]' THEN 1 ELSE 0 END{%- endmacro %}
{% macro sqlite__unsure(value) -%}CASE WHEN {{ value }} GLOB '*[^ -~]*' OR INSTR(CAST({{ value }} AS BLOB), X'00') > 0 THEN 1 ELSE 0 END{%- endmacro %}
{% macro sqlserver__unsure(value) -%}CASE WHEN {{ value }} LIKE '%[^ -~]%' THEN 1 ELSE 0 END{%- endmacro %}
{% macro trino__unsure(value) -%}CASE WHEN REGEXP_LIKE({{ value }}, '[^ -~]') THEN 1 ELSE 0 END{%- endmacro %}
{% macro default__unsure(value) -%}{{ exceptions.raise_compiler_error("sqlaudit: it is not known how this warehouse folds values; say values: exact, which counts them as they are written") }}{%- endmacro %}

{% macro nested(value) %}{{ return(adapter.dispatch('nested', 'sqlaudit')(value)) }}{% endmacro %}
{% macro athena__nested(value) -%}0{%- endmacro %}
{% macro bigquery__nested(value) -%}0{%- endmacro %}
{% macro clickhouse__nested(value) -%}CASE WHEN match(toTypeName({{ value }}), 'Array|Tuple|Map|JSON|Object|Variant|Dynamic') THEN 1 ELSE 0 END{%- endmacro %}
{% macro duckdb__nested(value) -%}CASE WHEN REGEXP_MATCHES(TYPEOF({{ value }}), '\]$|^(STRUCT|MAP|UNION|BLOB|JSON|VARIANT|GEOMETRY)') THEN 1 ELSE 0 END{%- endmacro %}
{% macro mariadb__nested(value) -%}0{%- endmacro %}
{% macro mysql__nested(value) -%}0{%- endmacro %}
{% macro postgres__nested(value) -%}CASE WHEN PG_TYPEOF({{ value }}) IN (SELECT oid FROM pg_catalog.pg_type WHERE typcategory IN ('A', 'C', 'P', 'R', 'U') AND typname NOT IN ('uuid', 'macaddr', 'macaddr8')) THEN 1 ELSE 0 END{%- endmacro %}
{% macro redshift__nested(value) -%}0{%- endmacro %}
{% macro snowflake__nested(value) -%}0{%- endmacro %}
{% macro spark__nested(value) -%}CASE WHEN TYPEOF({{ value }}) RLIKE '^(array|struct|map|binary|variant)' THEN 1 ELSE 0 END{%- endmacro %}
{% macro sqlite__nested(value) -%}0{%- endmacro %}
{% macro sqlserver__nested(value) -%}0{%- endmacro %}
{% macro trino__nested(value) -%}0{%- endmacro %}
{% macro default__nested(value) -%}{{ exceptions.raise_compiler_error("sqlaudit: it is not known how this warehouse folds values; say values: exact, which counts them as they are written") }}{%- endmacro %}
