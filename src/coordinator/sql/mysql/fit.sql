-- A server that takes writes from everybody, and a session whose clock is UTC, also where a proxy has changed either.
cast(@@global.read_only as char) in ('0', 'OFF') and @@session.time_zone = '+00:00'
