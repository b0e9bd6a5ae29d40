-- $1 a layout's epoch in ms since 1970, $2 the bits of its count: the first value of the server's present millisecond
select ((timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000 - $1) << $2) as floor
