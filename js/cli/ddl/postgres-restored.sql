do $mintid$
begin
  perform set_config('lock_timeout', '3s', true);
  -- Changes nothing, and nobody takes from the sequence until we are done.
  alter sequence {sequence} no cycle;
  perform setval('{sequence}', {floor}, false) from {sequence} where last_value < {floor};
  if not found then
    raise exception '{sequence} is ahead of the clock: nothing tells what was forgotten';
  end if;
end $mintid$
