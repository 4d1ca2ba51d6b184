//! Ten million random numbers into an array that is there.

use std::cell::RefCell;

use lodestride::array::{NdArray, Rng};
use rand::distr::{Distribution, StandardUniform};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng};
use rand_distr::StandardNormal;

use crate::answers::Real;
use crate::contest::{Contest, Failure};
use crate::suite::Suite;

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure>
where
    StandardUniform: Distribution<T>,
    StandardNormal: Distribution<T>,
{
    for normal in [false, true] {
        let workload = if normal { "rng.normal" } else { "rng.uniform" };
        let count = suite.size(10_000_000, 1_000_000);
        let name = if count == 10_000_000 { "1e7" } else { "1e6" };
        let Some(key) = suite.wants(workload, name, T::NAME) else {
            continue;
        };
        let out = NdArray::zeros_of(T::OURS, [count])?;
        let rng = RefCell::new(Rng::seeded(1));
        let their_out = RefCell::new(vec![T::zero(); count]);
        let their_rng = RefCell::new(SmallRng::seed_from_u64(1));
        // Other numbers everywhere: only how many there are can be compared.
        let mut contest = Contest::new(key, f64::INFINITY);
        let answer = || Ok(vec![count as f64]);
        contest.ours(
            || match normal {
                true => rng.borrow_mut().fill_normal(&out, 0.0, 1.0),
                false => rng.borrow_mut().fill_uniform(&out, 0.0, 1.0),
            },
            |()| answer(),
        )?;
        contest.sure_rival(
            "rand SmallRng",
            || {
                let (mut out, mut rng) = (their_out.borrow_mut(), their_rng.borrow_mut());
                if normal {
                    out.fill_with(|| rng.sample(StandardNormal));
                } else {
                    out.fill_with(|| rng.random());
                }
            },
            |()| answer(),
        )?;
        suite.run(contest)?;
    }
    Ok(())
}
