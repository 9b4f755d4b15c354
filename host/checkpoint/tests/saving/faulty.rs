//! An object store and pointers that fail now and then: before they act, or after, with the answer lost. Slow at random, too.

use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use tidegate_checkpoint::{CheckpointError, JobPlace, Pointer, Pointers};

use crate::chance::Chance;

type Items<T> = Pin<Box<dyn Stream<Item = Result<T>> + Send>>;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Before,
    After,
}

/// Deals faults.
pub(crate) struct Faults {
    chance: Mutex<Chance>,
    /// One call in so many fails; 0: none.
    one_in: Mutex<u64>,
    dealt: Mutex<u64>,
}

impl Faults {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self { chance: Mutex::new(Chance::new(seed)), one_in: Mutex::new(0), dealt: Mutex::new(0) })
    }

    pub(crate) fn set(&self, one_in: u64) {
        *self.one_in.lock().expect("not poisoned") = one_in;
    }

    pub(crate) fn dealt(&self) -> u64 {
        *self.dealt.lock().expect("not poisoned")
    }

    fn deal(&self) -> Fault {
        let one_in = *self.one_in.lock().expect("not poisoned");
        let mut chance = self.chance.lock().expect("not poisoned");
        if one_in == 0 || !chance.one_in(one_in) {
            return Fault::None;
        }
        *self.dealt.lock().expect("not poisoned") += 1;
        if chance.one_in(2) { Fault::Before } else { Fault::After }
    }

    /// Lets others go first, a few times.
    async fn dawdle(&self) {
        let times = self.chance.lock().expect("not poisoned").below(4);
        for _ in 0..times {
            tokio::task::yield_now().await;
        }
    }

    /// Makes a call, or not, and gives its answer, or not.
    async fn around<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.dawdle().await;
        match self.deal() {
            Fault::None => call.await,
            Fault::Before => Err(lost()),
            Fault::After => {
                let _ = call.await;
                Err(lost())
            }
        }
    }
}

fn lost() -> Error {
    Error::Generic { store: "faulty", source: "the connection broke".into() }
}

#[derive(Clone)]
pub(crate) struct FaultyStore {
    pub(crate) inner: Arc<InMemory>,
    pub(crate) faults: Arc<Faults>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FaultyStore")
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.faults.around(self.inner.put_opts(location, payload, opts)).await
    }

    async fn put_multipart_opts(&self, location: &Path, opts: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.faults.around(self.inner.put_multipart_opts(location, opts)).await?;
        Ok(Box::new(FaultyParts { inner, faults: Arc::clone(&self.faults) }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.faults.around(self.inner.get_opts(location, options)).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.faults.around(self.inner.get_ranges(location, ranges)).await
    }

    fn delete_stream(&self, locations: Items<Path>) -> Items<Path> {
        match self.faults.deal() {
            Fault::Before => Box::pin(Failing(None)),
            Fault::After => Box::pin(Failing(Some(self.inner.delete_stream(locations)))),
            Fault::None => self.inner.delete_stream(locations),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> Items<ObjectMeta> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.faults.around(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.faults.around(self.inner.copy_opts(from, to, options)).await
    }
}

/// One error, after what is to be done first.
struct Failing(Option<Items<Path>>);

impl Stream for Failing {
    type Item = Result<Path>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Some(inner) = &mut self.0 {
            match inner.as_mut().poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => self.0 = None,
            }
        }
        Poll::Ready(Some(Err(lost())))
    }
}

#[derive(Debug)]
struct FaultyParts {
    inner: Box<dyn MultipartUpload>,
    faults: Arc<Faults>,
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faults")
    }
}

#[async_trait]
impl MultipartUpload for FaultyParts {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (part, faults) = (self.inner.put_part(data), Arc::clone(&self.faults));
        Box::pin(async move { faults.around(part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let faults = Arc::clone(&self.faults);
        faults.around(self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

/// Pointers in memory.
pub(crate) struct FaultyPointers {
    pub(crate) faults: Arc<Faults>,
    now: Mutex<Option<(u64, Pointer)>>,
}

impl FaultyPointers {
    pub(crate) fn new(faults: Arc<Faults>) -> Arc<Self> {
        Arc::new(Self { faults, now: Mutex::new(None) })
    }

    /// What stands there, whatever fails.
    pub(crate) fn peek(&self) -> Pointer {
        self.now.lock().expect("not poisoned").clone().map(|(_, pointer)| pointer).unwrap_or_default()
    }

    async fn change(
        &self,
        place: &JobPlace,
        epoch: u64,
        to: impl FnOnce(Option<Pointer>) -> Option<Pointer>,
    ) -> Result<(), CheckpointError> {
        self.faults.dawdle().await;
        let fault = self.faults.deal();
        let failed = Err(CheckpointError::Pointer { doing: "moved", reason: "the connection broke".to_owned() });
        if fault == Fault::Before {
            return failed;
        }
        let mut now = self.now.lock().expect("not poisoned");
        let fenced = now.as_ref().is_some_and(|now| now.0 > epoch);
        match if fenced { None } else { to(now.clone().map(|now| now.1)) } {
            Some(pointer) => *now = Some((epoch, pointer)),
            None => return Err(CheckpointError::Fenced { place: place.to_string(), epoch }),
        }
        if fault == Fault::After { failed } else { Ok(()) }
    }
}

#[async_trait]
impl Pointers for FaultyPointers {
    async fn read(&self, _place: &JobPlace) -> Result<Option<Pointer>, CheckpointError> {
        if self.faults.deal() != Fault::None {
            return Err(CheckpointError::Pointer { doing: "read", reason: "the connection broke".to_owned() });
        }
        Ok(self.now.lock().expect("not poisoned").clone().map(|(_, pointer)| pointer))
    }

    async fn swap(&self, place: &JobPlace, epoch: u64, new: Pointer) -> Result<(), CheckpointError> {
        self.change(place, epoch, |now| now.map(|_| new)).await
    }

    async fn claim(&self, place: &JobPlace, epoch: u64) -> Result<(), CheckpointError> {
        self.change(place, epoch, |now| Some(now.unwrap_or_default())).await
    }
}
