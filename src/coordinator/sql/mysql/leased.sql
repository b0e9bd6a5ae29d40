-- $1 namespace, $2 and $3 the first and last machine ID wanted
select count(*) as leased from mintid_leases
where namespace = $1 and id between $2 and $3 and expires_at >= sysdate(6)
