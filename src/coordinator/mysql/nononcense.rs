//! NoNoncense 2 in the same database: its table `no_noncense_leases` beside ours. What we lease is leased there too, in the
//! same statement, and what its nodes lease is not free for us. Our table keeps the fences and the incarnation.

use super::Tables;
use super::connection::Connection;
use super::registry::is;
use crate::coordinator::beside::without_utc;
use crate::error::Error;

/// What is put into the statements where another table stands beside ours. A row that is missing there can be leased by
/// nobody.
pub(super) const HOOKS: [(&str, &str); 16] = [
    ("{theirs end}", ", theirs.expires_at as their_end"),
    ("{theirs join}", "\n    straight_join {theirs} theirs on theirs.id = leases.id"),
    ("{theirs free}", " and theirs.expires_at < utc_timestamp(6)"),
    ("{theirs still free}", " and candidate.their_end < judged.moment"),
    ("{theirs too}", "\nstraight_join {theirs} theirs on theirs.id = leases.id"),
    (
        "{theirs claim}",
        ",
  theirs.token = concat($4, unhex(lpad(hex(claimed.moment_ms + 1), 16, '0'))),
  theirs.expires_at = claimed.moment + interval $5 * 1000 microsecond,
  theirs.lock_version = theirs.lock_version + 1",
    ),
    ("{theirs beside}", " left join {theirs} theirs on theirs.id = leases.id"),
    ("{theirs live}", " or coalesce(theirs.expires_at >= sysdate(6), true)"),
    (
        "{theirs own}",
        "
    left join (
      select id, token, expires_at from {theirs} where id = $2 limit 1 for update
    ) theirs on true",
    ),
    ("{theirs present}", " and theirs.id is not null"),
    (
        "{theirs view}",
        "
      case when theirs.token = $3 then 'ours' when theirs.expires_at >= sysdate(6) then 'other' else 'nobody' end as their_view,",
    ),
    ("{theirs ours}", " and their_view = 'ours'"),
    ("{theirs other}", " and their_view <> 'other'"),
    (
        "{theirs keep}",
        ",
  theirs.token = $3,
  theirs.expires_at = decided.new_end,
  theirs.lock_version = theirs.lock_version + 1",
    ),
    ("{theirs held}", " left join {theirs} theirs on theirs.id = leases.id and theirs.token = $3"),
    (
        "{theirs release}",
        ",
  theirs.expires_at = greatest(
    utc_timestamp(6), cast('1970-01-01 00:00:00' as datetime(6)) + interval $4 * 1000 microsecond),
  theirs.lock_version = theirs.lock_version + 1",
    ),
];

impl Tables {
    /// Refuses a table that is not there, and a server whose zone would have its nodes and others disagree.
    pub(super) async fn refuse_other_clocks(&self, connection: &Connection) -> Result<(), Error> {
        let Some(theirs) = &self.theirs else { return Ok(()) };
        let answer = self.run(connection, &self.statements(connection).theirs, &[]).await?;
        let row = answer.rows.first();
        let read = |name| row.map_or(Ok(false), |row| is(row, name)).map_err(|fault| self.judge(&fault));
        if !read("there")? {
            let text = format!("coordinator: there is no table {theirs}; NoNoncense's migration makes it");
            let hint = "or this user may not see it: grant select and update on it";
            return Err(Error::config("coordinator", text).with(|fields| fields.hint = Some(hint.to_owned())));
        }
        if read("utc")? {
            return Ok(());
        }
        let zone = row.and_then(|row| row.text("zone").ok().flatten()).unwrap_or_default();
        Err(without_utc(theirs, &zone, "set global time_zone = '+00:00', and default-time-zone in the configuration"))
    }
}
