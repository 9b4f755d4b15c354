use super::*;
use crate::contract::{self, Subject};

struct Memory(Arc<MemoryLog>);

impl Subject for Memory {
    fn log(&self) -> Arc<dyn Log> {
        Arc::clone(&self.0) as Arc<dyn Log>
    }

    fn reopen(&mut self) {}
}

fn fresh() -> Box<dyn Subject> {
    Box::new(Memory(Arc::new(MemoryLog::new())))
}

#[test]
fn keeps_the_contract() {
    contract::run_all(&fresh);
}

#[test]
fn does_what_the_model_does() {
    for seed in contract::seeds(60) {
        contract::random(fresh(), seed);
    }
}
