-- $1 namespace, $2 and $3 the first and last machine ID wanted
select count(*) as leased from mintid_leases leases{theirs beside}
where leases.namespace = $1 and leases.id between $2 and $3 and (leases.expires_at >= sysdate(6){theirs live})
