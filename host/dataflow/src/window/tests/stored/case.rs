//! Random jobs: every kind of window, trigger and accumulation, with the rounds that they are given and where they are cut.

use tidegate_pipeline::{Aggregate, ComponentRef, Function, Hook};
use tidegate_types::NO_CLOCK;
use tidegate_types::hooks::Decision;

use super::hook::Adder;
use super::*;
use crate::window::custom::tests::script::{Row as Assignee, Script};
use crate::window::{CustomWindows, HookedAggregate, WindowOperator};

/// What a round brings.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) rows: Vec<Row>,
    pub(super) entries: Vec<ProgressEntry>,
}

/// A job and its input.
pub(super) struct Case {
    pub(super) kind: String,
    pub(super) config: WindowConfig,
    pub(super) rounds: Vec<Round>,
    /// The rounds before which the run is cut, ascending.
    pub(super) cuts: Vec<usize>,
    /// The rounds before which there is a checkpoint that nothing is restored from.
    pub(super) freezes: Vec<bool>,
    /// The parallelism of each part, again and again.
    parallelism: Vec<usize>,
    /// Rounds that go on after a cut while its state is written.
    pub(super) beyond: usize,
    /// How many entries are written at a time.
    pub(super) piece: usize,
    custom: Option<Script>,
    hooked: bool,
}

/// Numbers that look random and follow from a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn number(&mut self, from: i64, to: i64) -> i64 {
        from + self.roll(u64::try_from(to - from).unwrap()).cast_signed()
    }

    fn chance(&mut self, of: u64) -> bool {
        self.roll(of) == 0
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.roll(of.len() as u64)).unwrap()].clone()
    }
}

impl Case {
    pub(super) fn plain(config: WindowConfig) -> Self {
        Self {
            kind: "plain".into(),
            config,
            rounds: Vec::new(),
            cuts: Vec::new(),
            freezes: Vec::new(),
            parallelism: vec![1],
            beyond: 0,
            piece: 1,
            custom: None,
            hooked: false,
        }
    }

    pub(super) fn of_seed(seed: u64) -> Self {
        let mut dice = Dice(seed | 1);
        let mut case = Self::plain(config(tumbling(10)));
        let which = dice.roll(9);
        let spans = [tumbling(10), sliding(12, 5), sliding(15, 5), WindowKind::Global];
        let config = &mut case.config;
        config.lateness = Millis(dice.one(&[0, 7, 25]));
        config.accumulation =
            dice.one(&[Accumulation::Accumulating, Accumulation::Discarding, Accumulation::AccumulatingAndRetracting]);
        config.early = dice.one(&[Early::None, Early::EveryElements(2), Early::EveryProcessingTime(Millis(10))]);
        config.late = dice.one(&[Late::EveryElement, Late::None, Late::EveryProcessingTime(Millis(15))]);
        config.feeds = dice.chance(2);
        config.max_parallelism = dice.one(&[4, 16, 1_000]);
        match which {
            0 | 1 => config.kind = dice.one(&spans),
            2 | 3 => {
                config.kind = dice.one(&[sliding(12, 5), sliding(15, 5), sliding(9, 2)]);
                config.shares_panes = true;
                config.early = Early::None;
                config.late = dice.one(&[Late::EveryElement, Late::None]);
            }
            4 | 5 => {
                let max_duration = dice.one(&[None, Some(Millis(9)), Some(Millis(20))]);
                config.kind = WindowKind::Session { gap: Millis(6), max_duration };
            }
            6 => {
                config.kind = dice.one(&spans);
                config.shares_panes = matches!(config.kind, WindowKind::Sliding { .. }) && dice.chance(2);
                if config.shares_panes {
                    config.early = Early::None;
                    config.late = dice.one(&[Late::EveryElement, Late::None]);
                }
                config.undoes = true;
            }
            _ => case.custom = Some(script(which == 8)),
        }
        if case.custom.is_some() {
            // A label: what is asked is the script.
            case.config.kind = WindowKind::Custom { hook: hook("script") };
        }
        let plain = case.config.kind != WindowKind::Global || case.custom.is_some();
        case.hooked = !case.config.undoes && !case.config.shares_panes && plain && dice.chance(3);
        if !case.config.undoes && dice.chance(2) {
            case.config.dedup = Some(Dedup { field: "v".into(), horizon: Millis(dice.number(8, 40)) });
        }
        case.config.aggregates = aggregates(case.config.undoes, case.hooked);
        case.rounds = rounds(&mut dice, case.config.undoes);
        let mut cuts: Vec<usize> =
            (0..dice.number(1, 4)).map(|_| usize::try_from(dice.number(0, 13)).unwrap()).collect();
        cuts.sort_unstable();
        case.cuts = cuts;
        case.freezes = (0..14).map(|_| dice.chance(3)).collect();
        case.parallelism = (0..4).map(|_| dice.one(&[1, 2, 3])).collect();
        case.beyond = usize::try_from(dice.roll(4)).unwrap();
        case.piece = dice.one(&[0, 1, 2, 5, 100]);
        case.kind = format!("{:?}, shared {}, hook {}", case.config.kind, case.config.shares_panes, case.hooked);
        case
    }

    pub(super) fn parallelism(&self, part: usize) -> usize {
        self.parallelism[part % self.parallelism.len()]
    }

    pub(super) fn bench(&self) -> Bench {
        let custom = self.custom.as_ref().map(|script| CustomWindows::new(script.open(), "script".into(), 10));
        let hooks = self.hooked.then(|| HookedAggregate::new(Box::new(Adder::new()), "adder".into(), 10));
        let operator = WindowOperator::new(self.config.clone(), hooks.into_iter().collect(), custom);
        Bench::of(operator, std::sync::Arc::clone(&self.config.schema))
    }
}

pub(super) fn hook(uid: &str) -> Hook {
    let component = ComponentRef { name: uid.into(), version: None };
    Hook { uid: uid.into(), component, config: Default::default() }
}

fn aggregates(undoes: bool, hooked: bool) -> Vec<Aggregate> {
    let both = [Function::Count, Function::Sum, Function::Avg, Function::CountDistinct, Function::TopK { k: 2 }];
    let more = [Function::Min, Function::Max, Function::First, Function::Last, Function::ApproxCountDistinct];
    let functions = both.into_iter().chain(more.into_iter().filter(|_| !undoes));
    let builtin = |(place, function): (usize, Function)| Aggregate::Builtin {
        name: format!("f{place}"),
        function,
        field: Some("v".into()),
        condition: None,
    };
    let hooks = hooked.then(|| Aggregate::Hook { name: "adder".into(), hook: hook("adder") });
    functions.enumerate().map(builtin).chain(hooks).collect()
}

/// Windows of ten and of thirty. A hook that decides fires at the third row of a window, purges at some watermarks, and fails
/// on some rows and windows.
fn script(decides: bool) -> Script {
    let script = Script::new(|row: &Assignee| {
        let start = row.time.div_euclid(10) * 10;
        let wide = row.time.div_euclid(30) * 30;
        match row.time.rem_euclid(13) {
            12 => Err("trap"),
            11 => Ok(Vec::new()),
            0..5 => Ok(vec![(start, start + 10)]),
            _ => Ok(vec![(start, start + 10), (wide, wide + 30)]),
        }
    });
    if !decides {
        return script;
    }
    script.deciding(|asked| {
        let (start, _) = asked.window;
        match (start + asked.watermark.as_millis().rem_euclid(97) + i64::from(asked.count) * 5).rem_euclid(7) {
            0 => Err("trap"),
            1 => Ok(Decision::Fire),
            2 => Ok(Decision::FireAndPurge),
            3 if asked.has_ended() => Ok(Decision::Purge),
            _ => Ok(Decision::Wait),
        }
    })
}

fn value(dice: &mut Dice, undoes: bool) -> Value {
    match dice.roll(12) {
        0 => Value::Null,
        1 => Value::Float(dice.one(&[0.5, 0.1, 1e300, -1e300, 1e-300])),
        2 if undoes || dice.chance(3) => Value::Int(dice.one(&[i64::MAX, i64::MIN, i64::MAX / 2])),
        3 if !undoes && dice.chance(3) => Value::from("a text: a mismatch"),
        _ => Value::Int(dice.number(-3, 12)),
    }
}

/// Fourteen rounds; the last one ends the input.
fn rounds(dice: &mut Dice, undoes: bool) -> Vec<Round> {
    let keys = ["a", "b", "c", "d", "e\0f"];
    let (mut watermark, mut clock) = (-10, 3);
    let mut open: Vec<Row> = Vec::new();
    let mut rounds = Vec::new();
    for number in 0..14 {
        let mut round = Round { rows: Vec::new(), entries: Vec::new() };
        for position in 0..u32::try_from(dice.roll(9)).unwrap() {
            if undoes && !open.is_empty() && dice.chance(3) {
                let place = usize::try_from(dice.roll(open.len() as u64)).unwrap();
                round.rows.push(open.swap_remove(place).back(position));
            } else if dice.chance(4) {
                watermark += dice.number(0, 12);
                clock += dice.number(0, 12);
                let heard = if dice.chance(5) { NO_CLOCK } else { clock };
                round.entries.push(ProgressEntry { position, watermark: Watermark::at(watermark), clock: heard });
            } else {
                let time = watermark + dice.number(-15, 25);
                let row = row(position, dice.one(&keys), time, value(dice, undoes));
                open.push(row.clone());
                round.rows.push(row);
            }
        }
        if number == 13 {
            round.entries.push(ProgressEntry { position: 20, watermark: Watermark::MAX, clock });
        }
        rounds.push(round);
    }
    rounds
}
