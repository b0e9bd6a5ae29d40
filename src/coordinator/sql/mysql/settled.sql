-- Starts are told apart by their second: nothing is leased in the first one, so that a restart is another one.
(select running.variable_value from {status} running where running.variable_name = 'UPTIME') > 1
