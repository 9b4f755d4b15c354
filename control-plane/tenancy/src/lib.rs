//! Tenants, their limits and keys, and who may do what.
