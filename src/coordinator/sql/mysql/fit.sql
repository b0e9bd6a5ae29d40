-- A server that takes writes from everybody, and a session whose clock is UTC and that commits each statement, also where a
-- proxy has changed either, or the session is lent.
cast(@@global.read_only as char) in ('0', 'OFF') and @@session.time_zone = '+00:00' and @@session.autocommit
