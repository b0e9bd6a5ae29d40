//! NoNoncense 2 in the same database: its table `no_noncense_leases` beside ours. What we lease is leased there too, in the
//! same statement, and what its nodes lease is not free for us. Our table keeps the fences and the incarnation.

use super::Tables;
use super::session::Database;
use crate::coordinator::beside::without_utc;
use crate::error::Error;

/// What is put into the statements where another table stands beside ours.
pub(super) const HOOKS: [(&str, &str); 10] = [
    ("{theirs join}", " join {theirs} theirs on theirs.id = leases.id"),
    ("{theirs free}", " and theirs.expires_at < now at time zone 'UTC'"),
    ("{theirs live}", " or theirs.expires_at >= now at time zone 'UTC'"),
    ("{theirs lock}", ", theirs"),
    (
        "{theirs claim}",
        ", told as (
  update {theirs} theirs set
    token = claimed.token, expires_at = claimed.expires_at at time zone 'UTC', lock_version = theirs.lock_version + 1
  from claimed where theirs.id = claimed.id
)",
    ),
    (
        "{theirs own}",
        ", theirs as materialized (
  select token as their_token, expires_at as their_end from {theirs} where id = $2 for update
)",
    ),
    ("{theirs beside}", " left join theirs on true"),
    (
        "{theirs view}",
        "case when their_token = $3 then 'ours'
      when their_end >= clock_timestamp() at time zone 'UTC' then 'other' else 'nobody' end",
    ),
    (
        "{theirs keep}",
        ", told as (
  update {theirs} theirs set
    token = $3, expires_at = kept.expires_at at time zone 'UTC', lock_version = theirs.lock_version + 1
  from kept where theirs.id = $2
)",
    ),
    (
        "{theirs release}",
        ", told as (
  update {theirs} theirs set expires_at = released.expires_at at time zone 'UTC', lock_version = theirs.lock_version + 1
  from released where theirs.id = $2 and theirs.token = $3
)",
    ),
];

/// The same places where nobody else leases.
pub(super) const ALONE: [(&str, &str); 10] = [
    ("{theirs join}", ""),
    ("{theirs free}", ""),
    ("{theirs live}", ""),
    ("{theirs lock}", ""),
    ("{theirs claim}", ""),
    ("{theirs own}", ""),
    ("{theirs beside}", ""),
    ("{theirs view}", "'ours'"),
    ("{theirs keep}", ""),
    ("{theirs release}", ""),
];

/// Under which names a server's default time zone is none.
const UTC: &[&str] = &["utc", "uct", "gmt", "gmt0", "zulu", "universal", "greenwich"];

impl<D: Database> Tables<D> {
    /// Refuses a table that is not there, and a server whose zone would have its nodes and others disagree.
    pub(super) async fn refuse_other_clocks(&self, session: &D::Connection) -> Result<(), Error> {
        let Some(theirs) = &self.theirs else { return Ok(()) };
        let rows = self.execute(session, &self.statements.theirs, &[]).await?;
        let row = rows.first();
        let there = row.and_then(|row| row.get("there").ok()).unwrap_or(false);
        let zone: String = row.and_then(|row| row.get("zone").ok()).unwrap_or_default();
        if !there {
            let text = format!("coordinator: there is no table {theirs}; NoNoncense's migration makes it");
            return Err(Error::config("coordinator", text));
        }
        let name = zone.to_ascii_lowercase();
        if UTC.contains(&name.strip_prefix("etc/").unwrap_or(&name)) {
            return Ok(());
        }
        Err(without_utc(theirs, &zone, "alter database … set timezone to 'UTC'"))
    }
}
