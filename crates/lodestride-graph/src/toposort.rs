//! Orders in which a function graph can be computed.

use crate::error::{GraphErrorKind, Result};
use crate::fgraph::{Client, FunctionGraph, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl FunctionGraph {
    /// The nodes that outputs depend on, producers first; among nodes that are ready, the oldest first.
    ///
    /// # Errors
    /// `Cycle` when there is no such order.
    pub fn toposort(&self) -> Result<Vec<NodeId>> {
        let live = self.live_nodes();
        let mut waiting = vec![0usize; self.nodes.len()];
        let mut ready = BinaryHeap::new();
        let mut count = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            if !live[index] {
                continue;
            }
            count += 1;
            waiting[index] = node
                .inputs
                .iter()
                .filter(|v| self.owner(**v).is_some())
                .count();
            if waiting[index] == 0 {
                ready.push(Reverse(NodeId(index as u32)));
            }
        }
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(id)) = ready.pop() {
            order.push(id);
            for output in self.node_outputs(id) {
                for client in self.clients(*output) {
                    if let Client::Node(next, _) = *client
                        && live[next.index()]
                    {
                        waiting[next.index()] -= 1;
                        if waiting[next.index()] == 0 {
                            ready.push(Reverse(next));
                        }
                    }
                }
            }
        }
        if order.len() == count {
            Ok(order)
        } else {
            Err(GraphErrorKind::Cycle.into())
        }
    }

    /// For each node, whether an output depends on it.
    pub(crate) fn live_nodes(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        let mut pending = self.outputs.clone();
        while let Some(value) = pending.pop() {
            if let Some((node, _)) = self.owner(value)
                && !std::mem::replace(&mut live[node.index()], true)
            {
                pending.extend_from_slice(self.node_inputs(node));
            }
        }
        live
    }
}
