{# The classes of one node: the words of their keys, their rows, and words of their counts where they are wanted. #}
SELECT {{ names | join(", ") }}
FROM {{ grouped }} AS class
