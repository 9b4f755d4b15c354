//! Where the API is and who asks: flags, then the environment, then the folder of a `tidegate dev` here.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::environment::Remote;
use crate::failure::Failure;

/// The folder that `tidegate dev` uses if it is told no other.
pub(crate) const DEFAULT_DATA: &str = "tidegate-data";
/// In it, where the API is.
pub(crate) const API_URL_FILE: &str = "api.url";
/// In it, the first platform admin's token.
pub(crate) const ADMIN_TOKEN_FILE: &str = "admin.token";

/// The flags that all client commands take.
#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// Where the API is [default: $TIDEGATE_API, else what ./tidegate-data/api.url says]
    #[arg(long, value_name = "URL", global = true, help_heading = "Connection")]
    api: Option<String>,
    /// A file with the token to ask with [default: $TIDEGATE_TOKEN, else ./tidegate-data/admin.token]
    #[arg(long, value_name = "FILE", global = true, help_heading = "Connection")]
    token_file: Option<PathBuf>,
    /// A PEM file with the certificate to trust, where the API's own is not from a public authority
    #[arg(long, value_name = "FILE", global = true, help_heading = "Connection")]
    ca_cert: Option<PathBuf>,
    /// Write JSON as the API gives it, one object a line, in place of tables
    #[arg(long, global = true, help_heading = "Output")]
    pub(super) json: bool,
}

/// What a connection needs.
pub(super) struct Settings {
    /// Without a slash at its end.
    pub(super) api: String,
    pub(super) token: String,
    pub(super) ca_pem: Option<Vec<u8>>,
}

impl Connection {
    /// # Errors
    /// If it is not said where the API is or who asks, or a file cannot be read.
    pub(super) fn settings(&self, remote: &Remote) -> Result<Settings, Failure> {
        let here = Path::new(DEFAULT_DATA);
        let api = match (&self.api, &remote.api) {
            (Some(url), _) | (None, Some(url)) => url.clone(),
            (None, None) => default_file(here, API_URL_FILE)?.ok_or_else(|| {
                Failure::invalid(
                    "where is the API? Give --api URL or set TIDEGATE_API; or start `tidegate dev` in this folder",
                )
            })?,
        };
        if !(api.starts_with("http://") || api.starts_with("https://")) {
            return Err(Failure::invalid(format!("--api {api}: no URL; write it as http://127.0.0.1:7400")));
        }
        let token = match (&self.token_file, &remote.token) {
            (Some(path), _) => token_of(path)?,
            (None, Some(token)) => token.clone(),
            (None, None) => default_file(here, ADMIN_TOKEN_FILE)?.ok_or_else(|| {
                Failure::invalid("who asks? Give --token-file FILE or set TIDEGATE_TOKEN to a token of the platform")
            })?,
        };
        let ca_pem = self.ca_cert.as_deref().map(|path| read("--ca-cert", path)).transpose()?;
        Ok(Settings { api: api.trim_end_matches('/').to_owned(), token, ca_pem })
    }
}

fn token_of(path: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(read("--token-file", path)?).unwrap_or_default();
    let token = text.trim();
    if token.is_empty() || !token.chars().all(|letter| letter.is_ascii_graphic()) {
        return Err(Failure::invalid(format!("--token-file {}: no token in this file", path.display())));
    }
    Ok(token.to_owned())
}

/// The file of a folder of `tidegate dev`, if it is there.
fn default_file(folder: &Path, name: &str) -> Result<Option<String>, Failure> {
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::external(format!("{}: {error}", path.display()))),
    }
}

fn read(flag: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::invalid(format!("{flag} {}: {error}", path.display())))
}
