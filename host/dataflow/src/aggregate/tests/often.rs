//! `top_k` where panes come often: it then looks at what was counted since the last one.

use super::*;

fn top() -> Builtins {
    let mut top = Builtins::new(&[function("top", Function::TopK { k: 5 }, Some("v"))], &Schema::default());
    top.reserve(1);
    top
}

fn add(builtins: &mut Builtins, batch: &Batch, rows: &[u32]) {
    let prepared = builtins.prepare(batch);
    builtins.add(&prepared, batch, &Additions { rows, slots: &vec![0; rows.len()] });
}

/// New values and old ones, some as text, with a pane after every `every`-th.
#[test]
fn a_pane_after_each_value_shows_what_one_at_the_end_does() {
    let value = |at: i64| match (at * at + 7 * at) % 997 {
        third if third % 3 == 0 => Value::from(third.to_string().as_str()),
        other => Value::Int(other),
    };
    let records: Vec<Record> = (0..3_000).map(|at| Record { time: 0, values: vec![value(at)] }).collect();
    let batch = batch(&["v"], 0, &records);
    for every in [1, 3, 50, 400] {
        let mut often = top();
        let idle = often.state_bytes();
        for row in 0..3_000 {
            add(&mut often, &batch, &[row]);
            if row % every > 0 {
                continue;
            }
            let shown = often.finish(&[0])[0].value(0).to_value();
            if row % 37 == 0 {
                let mut once = top();
                add(&mut once, &batch, &(0..=row).collect::<Vec<u32>>());
                assert_eq!(shown, once.finish(&[0])[0].value(0).to_value(), "after {row}, every {every}");
            }
        }
        often.reset(0);
        assert_eq!(often.finish(&[0])[0].value(0).to_value(), Value::Null);
        often.reset(0);
        assert_eq!(often.state_bytes(), idle);
    }
}
