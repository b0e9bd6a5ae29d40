-- $1 how the comments of what a database mints from begin, $2 what kind of table that is
select counters.table_schema as place, counters.table_name as name, counters.table_comment as mark
from information_schema.tables counters
where counters.table_schema = {database} and counters.table_type = $2
  and left(counters.table_comment, char_length($1)) = $1
order by counters.table_name
