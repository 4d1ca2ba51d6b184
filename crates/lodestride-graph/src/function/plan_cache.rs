//! The plans of call signatures, and how they are found. What a plan is, is in `plan`.

use crate::feed::Feed;
use crate::function::plan::Plan;
use crate::function::program::Program;
use crate::hash::ShortHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The plan of the first signature, and those of the latest others.
#[derive(Default)]
pub(crate) struct PlanCache {
    /// Never given up, so that it is lent without a lock and without a count: most functions have no other.
    first: OnceLock<Arc<Plan>>,
    /// Whether the last call ran the first.
    is_first_latest: AtomicBool,
    plans: Mutex<Cached>,
}

/// Plans of the latest signatures but the first, the newest last.
#[derive(Default)]
struct Cached {
    plans: Vec<Arc<Plan>>,
    largest: usize,
}

/// Signatures remembered. Ragged batches make a new one each; more than an epoch's worth is not useful.
const MAX_PLANS: usize = 64;

impl PlanCache {
    fn cached(&self) -> MutexGuard<'_, Cached> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn largest(&self) -> usize {
        self.cached().largest
    }

    /// What the last call ran.
    pub(crate) fn latest_program(&self) -> Option<Arc<Program>> {
        let first = (self.first.get()).filter(|_| self.is_first_latest.load(Ordering::Relaxed));
        let program = |plan: &Arc<Plan>| Arc::clone(&plan.program);
        first
            .map(program)
            .or_else(|| self.cached().plans.last().map(program))
    }

    /// The first plan, if the signature is its.
    #[inline]
    pub(crate) fn first(&self, leaves: &[Feed<'_>]) -> Option<&Arc<Plan>> {
        let first = self.first.get().filter(|plan| plan.matches(leaves))?;
        self.is_first_latest.store(true, Ordering::Relaxed);
        Some(first)
    }

    /// The plan of the last call, if the signature is the same.
    pub(crate) fn newest(&self, leaves: &[Feed<'_>]) -> Option<Arc<Plan>> {
        let newest = self.cached().newest(leaves)?;
        self.is_first_latest.store(false, Ordering::Relaxed);
        Some(newest)
    }

    /// The plan of a signature, and the signature's hash where there is none.
    pub(crate) fn find(&self, leaves: &[Feed<'_>]) -> Result<Arc<Plan>, u64> {
        if let Some(first) = self.first(leaves) {
            return Ok(Arc::clone(first));
        }
        self.is_first_latest.store(false, Ordering::Relaxed);
        let mut cached = self.cached();
        // Mostly the signature is that of the last call, which needs no hash.
        if let Some(newest) = cached.newest(leaves) {
            return Ok(newest);
        }
        let hash = signature_hash(leaves);
        let found = cached
            .plans
            .iter()
            .rposition(|plan| plan.hash == hash && plan.matches(leaves));
        let plan = found.map(|at| {
            // The newest is last: a hit moves to the end, the front is the one to forget.
            let plan = cached.plans.remove(at);
            cached.plans.push(Arc::clone(&plan));
            plan
        });
        plan.ok_or(hash)
    }

    pub(crate) fn insert(&self, plan: Arc<Plan>) {
        let mut cached = self.cached();
        cached.largest = cached.largest.max(plan.bytes);
        let Err(plan) = self.first.set(plan) else {
            self.is_first_latest.store(true, Ordering::Relaxed);
            return;
        };
        if cached.plans.len() >= MAX_PLANS {
            cached.plans.remove(0);
        }
        cached.plans.push(plan);
    }
}

impl Cached {
    #[inline]
    fn newest(&self, leaves: &[Feed<'_>]) -> Option<Arc<Plan>> {
        let newest = self.plans.last()?;
        newest.matches(leaves).then(|| Arc::clone(newest))
    }
}

fn signature_hash(leaves: &[Feed<'_>]) -> u64 {
    let mut hasher = ShortHasher::default();
    for slot in leaves.iter().map(Feed::by_ref) {
        slot.data.dtype().hash(&mut hasher);
        let layout = slot.data.layout();
        layout.shape().as_slice().hash(&mut hasher);
        layout.strides()[..].hash(&mut hasher);
        layout.offset().hash(&mut hasher);
        if let Some(lod) = slot.lod {
            for level in 0..lod.depth() {
                if let Ok(offsets) = lod.level(level as isize) {
                    offsets.hash(&mut hasher);
                }
            }
        }
    }
    hasher.finish()
}
