//! `tidegate keygen`: a new key that signs components, and its public half.

use std::path::PathBuf;

use clap::Args;
use tidegate_signing::SecretKey;

use crate::failure::Failure;
use crate::key_files::Pair;

const KEYGEN_EXAMPLES: &str = "\
Example:
  tidegate keygen --out acme
  tidegate sign delays.wasm --key acme.key --tenant acme --name delays --version 1.0.0

NAME.key signs: only its owner may read it, and whoever has it can publish as you. Keep it out of repositories and
images. NAME.pub verifies: hand it to whoever runs your components. Nothing is ever written over.
Exit status: 0 both files were written; 1 the machine failed; 2 a file of that name exists.";

/// The arguments of `tidegate keygen`.
#[derive(Args, Clone, Debug)]
#[command(after_help = KEYGEN_EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Write the secret key to NAME.key and the public key to NAME.pub
    #[arg(long, short, value_name = "NAME")]
    pub(crate) out: PathBuf,
}

/// Makes a key and writes its two files; returns where they are, in words.
///
/// # Errors
/// If a file exists or cannot be written, or the system gives no random bytes.
pub(crate) fn run(args: &KeygenArgs) -> Result<String, Failure> {
    let pair = Pair::named(&args.out);
    let key = SecretKey::generate().map_err(|error| Failure::external(error.to_string()))?;
    pair.write(&key)?;
    Ok(format!(
        "key     {}\nsecret  {}  (signs; keep it to yourself)\npublic  {}  (verifies; hand it out)\n",
        key.public().id(),
        pair.secret.display(),
        pair.public.display()
    ))
}
