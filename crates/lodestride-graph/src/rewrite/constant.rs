//! Folding: what depends on constants only is computed while compiling.

use crate::constant::ConstantData;
use crate::error::{GraphErrorKind, Result};
use crate::fgraph::{Source, ValueId};
use crate::op::{Facts, Planned, SlotRef};
use crate::ops::{BroadcastLike, BroadcastTo};
use crate::rewrite::engine::Soundness::Exact;
use crate::rewrite::engine::{Key, Rewriter, Rule, Site, rule};
use crate::value::Value;
use lodestride_array::{NdArray, scope_out};

pub(super) const RULES: &[Rule] = &[rule("constant", Key::Any, Exact, fold)];

/// Larger results stay computed: a graph should not grow by megabytes to save microseconds.
const MAX_ELEMENTS: usize = 1 << 16;

fn fold(r: &mut Rewriter<'_>, site: &Site<'_>) -> Result<Option<ValueId>> {
    // Stretching a constant is free and keeps it recognisable.
    let stretches = site.op.is::<BroadcastLike>() || site.op.is::<BroadcastTo>();
    if stretches || !site.op.is_pure() || site.op.is_dynamic() || site.inputs.is_empty() {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(site.inputs.len());
    for input in site.inputs {
        match &r.graph.values[input.index()].source {
            Source::Constant(data, _) => values.push(data.value()),
            Source::Leaf(_) | Source::Node(..) => return Ok(None),
        }
    }
    // An op that fails on these values fails at run time, where the message has the call's context.
    let inputs: Vec<SlotRef<'_>> = values.iter().map(Value::by_ref).collect();
    let Ok(Some(value)) = scope_out(|| compute(site, &inputs)) else {
        return Ok(None);
    };
    Ok(Some(
        r.graph.constant(ConstantData::Typed(Box::new(value)), None),
    ))
}

fn compute(site: &Site<'_>, inputs: &[SlotRef<'_>]) -> Result<Option<Value>, GraphErrorKind> {
    let facts: Vec<Facts> = inputs.iter().map(|slot| slot.facts()).collect();
    let Some(planned) = site.op.plan(&facts)?.into_iter().next() else {
        return Ok(None);
    };
    let dtype = site.ty.dtype();
    let (data, lod) = match planned {
        Planned::Fresh { shape, .. } if shape.elements() > MAX_ELEMENTS => return Ok(None),
        Planned::Fresh { shape, lod } => {
            let data = NdArray::zeros_of(dtype, shape)?;
            let out = SlotRef {
                data: &data,
                lod: lod.as_ref(),
            };
            site.op.perform(inputs, &[out])?;
            (data, lod)
        }
        Planned::Integers { shape, values } => (NdArray::from_vec(values.to_vec(), shape)?, None),
        Planned::View { input, layout, lod } => {
            let view = NdArray::from_buffer(inputs[input].data.buffer().clone(), layout, dtype)?;
            (view.dup()?, lod)
        }
        Planned::Dynamic => return Ok(None),
    };
    Ok(Some(Value::new(data, lod)?))
}
