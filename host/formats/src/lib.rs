//! JSON and raw bytes to and from columns.
