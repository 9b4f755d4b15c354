//! The HTTP API: routes, requests, responses, problem details.
