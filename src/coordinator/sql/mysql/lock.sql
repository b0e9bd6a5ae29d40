-- $1 namespace, $2 protocol. Whoever changes a registry holds its row, which is made if there is none.
insert into mintid_registry (namespace, protocol) values ($1, $2)
on duplicate key update protocol = mintid_registry.protocol
