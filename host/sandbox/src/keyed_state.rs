//! The import `keyed-state`: a guest's arguments checked and handed to the state that its call was lent, and the answers made
//! into columns.

use tidegate_types::hooks::{StateResult, StateRows, StateSpec};
use tidegate_types::{Column, Field};
use wasmtime::Result;
use wasmtime::component::Linker;

use crate::bindings::tidegate::job::keyed_state::{Found, Lists, Maps};
use crate::bindings::tidegate::job::types::ColumnResult;
use crate::instance::HostState;
use crate::lent::{Context, Lent, Load, map_kind, measure, state_of, with_lent, wrong_answer, wrong_rows};
use crate::{lift, lower};

/// Adds the import to a linker.
pub(crate) fn link(linker: &mut Linker<HostState>) -> Result<()> {
    let mut instance = linker.instance("tidegate:job/keyed-state@0.1.0")?;
    instance.func_wrap("get", get)?;
    instance.func_wrap("put", put)?;
    instance.func_wrap("clear", clear)?;
    instance.func_wrap("append", append)?;
    instance.func_wrap("get-list", get_list)?;
    instance.func_wrap("map-get", map_get)?;
    instance.func_wrap("map-put", map_put)?;
    instance.func_wrap("map-remove", map_remove)?;
    instance.func_wrap("map-entries", map_entries)
}

type Keys = Vec<u32>;
type Columns = Vec<ColumnResult>;

fn get(mut store: Context<'_>, (state, keys): (u32, Keys)) -> Result<(Found,)> {
    let found = with_lent(&mut store, "keyed-state.get", asked(&keys), |lent| {
        let limit = lent.read_limit();
        let spec = state_of(&lent.plan, state, Some("value"))?;
        lent.check_keys(&keys)?;
        found(spec, lent.access.get(state, &keys, limit)?, keys.len())
    });
    Ok((found?,))
}

fn put(mut store: Context<'_>, (state, keys, rows): (u32, Keys, Columns)) -> Result<()> {
    with_lent(&mut store, "keyed-state.put", given(&keys, &rows), |lent| {
        let rows = rows_to_write(lent, state, "value", &keys, rows)?;
        lent.access.put(state, &keys, &rows)?;
        Ok(((), Load::default()))
    })
}

fn clear(mut store: Context<'_>, (state, keys): (u32, Keys)) -> Result<()> {
    with_lent(&mut store, "keyed-state.clear", asked(&keys), |lent| {
        state_of(&lent.plan, state, None)?;
        lent.check_keys(&keys)?;
        lent.access.clear(state, &keys)?;
        Ok(((), Load::default()))
    })
}

fn append(mut store: Context<'_>, (state, keys, rows): (u32, Keys, Columns)) -> Result<()> {
    with_lent(&mut store, "keyed-state.append", given(&keys, &rows), |lent| {
        let rows = rows_to_write(lent, state, "list", &keys, rows)?;
        lent.access.append(state, &keys, &rows)?;
        Ok(((), Load::default()))
    })
}

fn get_list(mut store: Context<'_>, (state, keys): (u32, Keys)) -> Result<(Lists,)> {
    let lists = with_lent(&mut store, "keyed-state.get-list", asked(&keys), |lent| {
        let limit = lent.read_limit();
        let spec = state_of(&lent.plan, state, Some("list"))?;
        lent.check_keys(&keys)?;
        let lists = lent.access.lists(state, &keys, limit)?;
        let entries = entries_of(&lists.offsets, keys.len())?;
        let columns = lower::owned(&lists.columns, &spec.fields, entries).map_err(wrong_answer)?;
        let bytes = measure(&columns) + size_of_val(&lists.offsets[..]);
        Ok((Lists { offsets: lists.offsets, columns }, Load { entries, bytes }))
    });
    Ok((lists?,))
}

fn map_get(mut store: Context<'_>, (state, keys, map_keys): (u32, Keys, ColumnResult)) -> Result<(Found,)> {
    let load = given(&keys, std::slice::from_ref(&map_keys));
    let found = with_lent(&mut store, "keyed-state.map-get", load, |lent| {
        let limit = lent.read_limit();
        let spec = state_of(&lent.plan, state, Some("map"))?;
        lent.check_keys(&keys)?;
        let map_keys = map_keys_of(spec, map_keys, keys.len())?;
        found(spec, lent.access.map_get(state, &keys, &map_keys, limit)?, keys.len())
    });
    Ok((found?,))
}

fn map_put(mut store: Context<'_>, (state, keys, map_keys, rows): (u32, Keys, ColumnResult, Columns)) -> Result<()> {
    let mut load = given(&keys, &rows);
    load.bytes += measure(std::slice::from_ref(&map_keys));
    with_lent(&mut store, "keyed-state.map-put", load, |lent| {
        let under = measure(std::slice::from_ref(&map_keys));
        let map_keys = map_keys_of(state_of(&lent.plan, state, Some("map"))?, map_keys, keys.len())?;
        lent.count_written(Load { entries: 0, bytes: under })?;
        let rows = rows_to_write(lent, state, "map", &keys, rows)?;
        lent.access.map_put(state, &keys, &map_keys, &rows)?;
        Ok(((), Load::default()))
    })
}

fn map_remove(mut store: Context<'_>, (state, keys, map_keys): (u32, Keys, ColumnResult)) -> Result<()> {
    let load = given(&keys, std::slice::from_ref(&map_keys));
    with_lent(&mut store, "keyed-state.map-remove", load, |lent| {
        let spec = state_of(&lent.plan, state, Some("map"))?;
        lent.check_keys(&keys)?;
        let map_keys = map_keys_of(spec, map_keys, keys.len())?;
        // What is removed is remembered until the run succeeds, whether it was there or not.
        lent.count_written(load)?;
        lent.access.map_remove(state, &keys, &map_keys)?;
        Ok(((), Load::default()))
    })
}

fn map_entries(mut store: Context<'_>, (state, keys): (u32, Keys)) -> Result<(Maps,)> {
    let maps = with_lent(&mut store, "keyed-state.map-entries", asked(&keys), |lent| {
        let limit = lent.read_limit();
        let spec = state_of(&lent.plan, state, Some("map"))?;
        lent.check_keys(&keys)?;
        let maps = lent.access.map_entries(state, &keys, limit)?;
        let entries = entries_of(&maps.offsets, keys.len())?;
        let columns = lower::owned(&maps.columns, &spec.fields, entries).map_err(wrong_answer)?;
        let map_keys = lower::owned(&[maps.map_keys], &[map_key_field(spec)], entries).map_err(wrong_answer)?;
        let bytes = measure(&columns) + measure(&map_keys) + size_of_val(&maps.offsets[..]);
        let map_keys = map_keys.into_iter().next().expect("one column comes of one");
        Ok((Maps { offsets: maps.offsets, map_keys, columns }, Load { entries, bytes }))
    });
    Ok((maps?,))
}

fn asked(keys: &[u32]) -> Load {
    Load { entries: keys.len(), bytes: size_of_val(keys) }
}

fn given(keys: &[u32], columns: &[ColumnResult]) -> Load {
    Load { bytes: size_of_val(keys) + measure(columns), ..asked(keys) }
}

/// Rows that are about to be written to a state of this shape: of the plan's fields, one for each key, and within the bound.
fn rows_to_write(
    lent: &mut Lent,
    state: u32,
    due: &'static str,
    keys: &[u32],
    rows: Columns,
) -> StateResult<Vec<Column>> {
    let spec = state_of(&lent.plan, state, Some(due))?;
    lent.check_keys(keys)?;
    let bytes = measure(&rows);
    let rows =
        lift::columns("the rows", rows, &spec.fields, keys.len()).map_err(|wrong| wrong_rows(&spec.name, wrong))?;
    lent.count_written(Load { entries: keys.len(), bytes })?;
    Ok(rows)
}

fn map_key_field(spec: &StateSpec) -> Field {
    Field::typed("map-keys", map_kind(spec), false)
}

fn map_keys_of(spec: &StateSpec, map_keys: ColumnResult, entries: usize) -> StateResult<Column> {
    let lifted = lift::columns("the rows", vec![map_keys], &[map_key_field(spec)], entries);
    let lifted = lifted.map_err(|wrong| wrong_rows(&spec.name, wrong))?;
    Ok(lifted.into_iter().next().expect("one column comes of one"))
}

/// The answer to a question about `asked` keys. Its entries were paid for with the question.
fn found(spec: &StateSpec, rows: StateRows, asked: usize) -> StateResult<(Found, Load)> {
    if rows.present.len() != asked {
        return Err(wrong_answer(format_args!("{} rows for {asked} keys", rows.present.len())));
    }
    let columns = lower::owned(&rows.columns, &spec.fields, asked).map_err(wrong_answer)?;
    let bytes = measure(&columns) + rows.present.len();
    let present = rows.present.into_iter().map(u8::from).collect();
    Ok((Found { present, columns }, Load { entries: 0, bytes }))
}

/// How many rows an answer has by its offsets.
fn entries_of(offsets: &[u32], asked: usize) -> StateResult<usize> {
    let end = offsets.last().and_then(|end| usize::try_from(*end).ok()).unwrap_or(0);
    lift::offsets(offsets, asked, end).map_err(wrong_answer)?;
    Ok(end)
}
