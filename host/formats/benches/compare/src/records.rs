//! Campaign events as in the specification's section 4.2, made from a fixed seed.

/// Records of one batch, with line feeds between them.
pub struct Batch {
    pub data: Vec<u8>,
    pub spans: Vec<(u32, u32)>,
}

impl Batch {
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|(start, end)| &self.data[*start as usize..*end as usize])
    }
}

/// So many batches of so many records.
pub fn batches(count: usize, rows: usize, spaced: bool) -> Vec<Batch> {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut batch = || {
        let mut data = Vec::new();
        let mut spans = Vec::new();
        for _ in 0..rows {
            let start = data.len() as u32;
            data.extend_from_slice(record(&mut draw, spaced).as_bytes());
            spans.push((start, data.len() as u32));
            data.push(b'\n');
        }
        Batch { data, spans }
    };
    (0..count).map(|_| batch()).collect()
}

fn record(draw: &mut impl FnMut(u64) -> u64, spaced: bool) -> String {
    let country = ["VN", "DE", "BR", "US"][draw(4) as usize];
    let (minute, second) = (draw(60), draw(60));
    let text = format!(
        "{{\"event_time\":\"2026-10-22T09:{minute:02}:{second:02}Z\",\"campaign_id\":\"c-{}\",\"country\":\"{country}\",\
         \"event_id\":\"{:08x}-{:08x}\",\"impressions\":{},\"clicks\":{},\"spend_micros\":{}}}",
        1_000 + draw(9_000),
        draw(1 << 32),
        draw(1 << 32),
        1 + draw(3),
        draw(2),
        draw(100_000),
    );
    // As Python's `json.dumps` writes.
    if spaced { text.replace("\":", "\": ").replace(",\"", ", \"") } else { text }
}
