select
  to_regclass('mintid_registry') is not null
  and to_regclass('mintid_leases') is not null
  and to_regclass('mintid_incarnation') is not null as made
