//! The metadata store on SQLite: the only user of sqlx.
