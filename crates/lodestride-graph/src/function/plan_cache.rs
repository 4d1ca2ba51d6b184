//! The plans of the latest call signatures, and how they are found. What a plan is, is in `plan`.

use crate::function::plan::Plan;
use crate::function::program::Program;
use crate::hash::ShortHasher;
use crate::op::Slot;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Plans of the latest signatures, the newest last.
#[derive(Default)]
pub(crate) struct PlanCache {
    plans: Mutex<Cached>,
}

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
        Some(Arc::clone(&self.cached().plans.last()?.program))
    }

    /// The plan of the last call, if the signature is the same.
    pub(crate) fn newest(&self, leaves: &[Slot]) -> Option<Arc<Plan>> {
        self.cached().newest(leaves)
    }

    /// The plan of a signature, and the signature's hash where there is none.
    pub(crate) fn find(&self, leaves: &[Slot]) -> Result<Arc<Plan>, u64> {
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
        if cached.plans.len() >= MAX_PLANS {
            cached.plans.remove(0);
        }
        cached.plans.push(plan);
    }
}

impl Cached {
    #[inline]
    fn newest(&self, leaves: &[Slot]) -> Option<Arc<Plan>> {
        let newest = self.plans.last()?;
        newest.matches(leaves).then(|| Arc::clone(newest))
    }
}

fn signature_hash(leaves: &[Slot]) -> u64 {
    let mut hasher = ShortHasher::default();
    for slot in leaves {
        slot.data.dtype().hash(&mut hasher);
        let layout = slot.data.layout();
        layout.shape().as_slice().hash(&mut hasher);
        layout.strides()[..].hash(&mut hasher);
        layout.offset().hash(&mut hasher);
        if let Some(lod) = &slot.lod {
            for level in 0..lod.depth() {
                if let Ok(offsets) = lod.level(level as isize) {
                    offsets.hash(&mut hasher);
                }
            }
        }
    }
    hasher.finish()
}
