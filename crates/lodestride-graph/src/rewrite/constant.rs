//! Folding: what depends on constants only is computed while compiling.

use crate::constant::ConstantData;
use crate::error::{GraphErrorKind, Result};
use crate::fgraph::{Source, ValueId};
use crate::op::{Facts, Planned, Slot};
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
    let mut slots = Vec::with_capacity(site.inputs.len());
    for input in site.inputs {
        match &r.graph.values[input.index()].source {
            Source::Constant(data, _) => slots.push(data.value().into_slot()),
            Source::Leaf(_) | Source::Node(..) => return Ok(None),
        }
    }
    // An op that fails on these values fails at run time, where the message has the call's context.
    let Ok(Some(value)) = scope_out(|| compute(site, &slots)) else {
        return Ok(None);
    };
    Ok(Some(
        r.graph.constant(ConstantData::Typed(Box::new(value)), None),
    ))
}

fn compute(site: &Site<'_>, slots: &[Slot]) -> Result<Option<Value>, GraphErrorKind> {
    let facts: Vec<Facts> = slots
        .iter()
        .map(|s| Facts {
            dtype: s.data.dtype(),
            layout: s.data.layout().clone(),
            lod: s.lod.clone(),
        })
        .collect();
    let Some(planned) = site.op.plan(&facts)?.into_iter().next() else {
        return Ok(None);
    };
    let dtype = site.ty.dtype();
    let slot = match planned {
        Planned::Fresh { shape, .. } if shape.elements() > MAX_ELEMENTS => return Ok(None),
        Planned::Fresh { shape, lod } => {
            let out = Slot {
                data: NdArray::zeros_of(dtype, shape)?,
                lod,
            };
            let inputs: Vec<&Slot> = slots.iter().collect();
            site.op.perform(&inputs, &[&out])?;
            out
        }
        Planned::Integers { shape, values } => Slot {
            data: NdArray::from_vec(values.to_vec(), shape)?,
            lod: None,
        },
        Planned::View { input, layout, lod } => {
            let view = NdArray::from_buffer(slots[input].data.buffer().clone(), layout, dtype)?;
            Slot {
                data: view.dup()?,
                lod,
            }
        }
        Planned::Dynamic => return Ok(None),
    };
    Ok(Some(Value::from_slot(slot)?))
}
