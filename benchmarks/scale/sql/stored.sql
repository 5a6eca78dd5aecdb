{# Compressed bytes of some columns of a Parquet file. #}
SELECT SUM(total_compressed_size)
FROM parquet_metadata($path)
WHERE path_in_schema IN ({% for column in columns %}'{{ column }}'{{ ", " if not loop.last }}{% endfor %})
