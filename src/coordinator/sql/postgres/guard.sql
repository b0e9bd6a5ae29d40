-- $1 namespace. The version of a registry that is to be changed; null without one
select {version} from (
  select *, concat_ws('/', xmin, ctid) as edition from mintid_registry where namespace = $1 for update
) as registry
