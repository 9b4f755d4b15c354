//! Reading lists and records page by page.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::Value;

use super::Client;
use super::http::{Answer, Call};
use super::path::{part, query};
use super::stream::ReadArgs;
use super::value;
use crate::failure::Failure;

/// The most records of a page.
const PAGE: u64 = 1000;
/// How long the platform waits for records that are not there yet, ms.
const WAIT_MS: u64 = 10_000;

/// The arguments of every list.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct ListArgs {
    /// The most to list [default: all]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    limit: Option<usize>,
}

/// The items of a list, page by page: all, or as many as are asked for.
pub(super) fn items(client: &Client<'_>, path: &str, list: &str, args: ListArgs) -> Result<Vec<Value>, Failure> {
    let most = args.limit.unwrap_or(usize::MAX);
    let mut items = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let pairs: Vec<(&str, String)> = after.iter().map(|after| ("after", after.clone())).collect();
        let page: Value = client.api.must(&Call::get(&query(path, &pairs)))?.json()?;
        items.extend(page.get(list).and_then(Value::as_array).cloned().unwrap_or_default());
        let next = page.get("next").filter(|next| !next.is_null() && items.len() < most);
        match next {
            Some(next) => after = Some(next.as_str().map_or_else(|| next.to_string(), str::to_owned)),
            None => {
                items.truncate(most);
                return Ok(items);
            }
        }
    }
}

/// Lines of JSON.
pub(super) fn lines(body: &[u8]) -> Result<Vec<Value>, Failure> {
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(serde_json::from_slice)
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::external(format!("the answer is not what this version of tidegate expects: {error}")))
}

/// Writes records of a stream to standard output, as the API gives them.
pub(super) fn records(client: &Client<'_>, args: &ReadArgs) -> Result<(), Failure> {
    let partitions = match args.partition {
        Some(partition) => vec![u64::from(partition)],
        None => {
            let path = format!("/v1/streams/{}", part(&args.name));
            let stream: Value = client.api.must(&Call::get(&path))?.json()?;
            (0..value::number(&stream, "/partitions")).collect()
        }
    };
    let mut left = args.limit;
    for partition in partitions {
        of_partition(client, args, partition, &mut left)?;
    }
    Ok(())
}

/// The records of one partition, to its present end or, if asked, to its last end.
fn of_partition(client: &Client<'_>, args: &ReadArgs, partition: u64, left: &mut Option<u64>) -> Result<(), Failure> {
    let mut from = args.from;
    while *left != Some(0) {
        let mut pairs = vec![("partition", partition.to_string())];
        pairs.extend(from.iter().map(|from| ("from", from.to_string())));
        pairs.push(("limit", left.map_or(PAGE, |left| left.min(PAGE)).to_string()));
        if args.follow {
            pairs.push(("wait_ms", WAIT_MS.to_string()));
        }
        let path = query(&format!("/v1/streams/{}/records", part(&args.name)), &pairs);
        let page = client.api.must(&Call::get(&path))?;
        crate::print(&page.body)?;
        let count = page.body.iter().filter(|byte| **byte == b'\n').count();
        *left = left.map(|left| left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX)));
        let next = offset(&page, "tidegate-next-offset")?;
        let is_at_end = next >= offset(&page, "tidegate-end-offset")?;
        if is_at_end && (!args.follow || page.header("tidegate-sealed") == Some("true")) {
            return Ok(());
        }
        from = Some(next);
    }
    Ok(())
}

fn offset(page: &Answer, header: &str) -> Result<u64, Failure> {
    let offset = page.header(header).and_then(|offset| offset.parse().ok());
    offset.ok_or_else(|| {
        Failure::external(format!("the answer is not what this version of tidegate expects: no {header}"))
    })
}
