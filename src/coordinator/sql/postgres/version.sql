-- Another one whenever what an adoption goes by has changed.
concat_ws(' ', registry.edition,
  (select count(*) from mintid_leases leases where leases.namespace = registry.namespace), {identity})
