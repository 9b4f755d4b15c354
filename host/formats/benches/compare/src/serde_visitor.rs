//! Through serde: a visitor that writes each wanted value into its builder as it comes. (A record with equal keys would
//! need more than this.)

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::columns::{Builders, Columns, INTS, TEXTS};
use crate::records::Batch;

pub fn serde_json(batch: &Batch) -> Columns {
    let mut builders = Builders::default();
    for record in batch.records() {
        let mut deserializer = ::serde_json::Deserializer::from_slice(record);
        Record(&mut builders).deserialize(&mut deserializer).expect("a record");
        deserializer.end().expect("nothing after the record");
    }
    builders.finish()
}

pub fn sonic_rs(batch: &Batch) -> Columns {
    let mut builders = Builders::default();
    for record in batch.records() {
        let mut deserializer = ::sonic_rs::Deserializer::from_slice(record);
        Record(&mut builders).deserialize(&mut deserializer).expect("a record");
    }
    builders.finish()
}

struct Record<'b>(&'b mut Builders);

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<&str>()? {
            if key == "event_time" {
                self.0.time(map.next_value()?);
            } else if let Some(place) = TEXTS.iter().position(|name| *name == key) {
                self.0.texts[place].append_value(map.next_value::<&str>()?);
            } else if let Some(place) = INTS.iter().position(|name| *name == key) {
                self.0.ints[place].append_value(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
