//! Upserts panes into SQLite tables: the only user of rusqlite.
