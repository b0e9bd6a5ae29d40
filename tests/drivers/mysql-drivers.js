'use strict'

// Each driver of MySQL and MariaDB as its users have it, in sessions that are nothing like mintid's own.

const mariadb = require('mariadb')
const mysql = require('mysql2/promise')

const SESSION = "set time_zone = '-07:00'"

const DRIVERS = {
  mysql2(url) {
    const pool = mysql.createPool({ uri: url, connectionLimit: 3, timezone: '-07:00' })
    pool.on('connection', (connection) => connection.query(SESSION))
    return { query: (text) => pool.query(text), end: () => pool.end() }
  },

  'mysql2 with prepared statements and other types'(url) {
    const pool = mysql.createPool({ uri: url, connectionLimit: 3, supportBigNumbers: true, bigNumberStrings: true })
    pool.on('connection', (connection) => connection.query(SESSION))
    return { query: (text) => pool.execute(text), end: () => pool.end() }
  },

  'MariaDB Connector'(url) {
    const { hostname: host, port, username, password, pathname } = new URL(url)
    const place = { host, port: Number(port || 3306), database: pathname.slice(1) }
    const user = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
    const pool = mariadb.createPool({
      ...place,
      ...user,
      connectionLimit: 3,
      initSql: SESSION,
      allowPublicKeyRetrieval: true
    })
    return { query: (text) => pool.query(text), end: () => pool.end() }
  }
}

module.exports = { DRIVERS }
