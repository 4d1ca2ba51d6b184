//! Changing a function graph, and checking that its books still balance.

use crate::error::{GraphErrorKind, Result};
use crate::fgraph::{Client, FunctionGraph, NodeId, Source, ValueId};

impl FunctionGraph {
    /// Uses `new` wherever `old` is used, outputs included.
    ///
    /// # Errors
    /// `UpdateType` when `old`'s type cannot hold `new`; `Cycle` when `new` is computed from `old` and the change would
    /// make it its own ancestor. The graph is unchanged then.
    #[track_caller]
    pub fn replace(&mut self, old: ValueId, new: ValueId) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let (expected, found) = (self.ty(old).clone(), self.ty(new).clone());
        if !expected.is_compatible(&found) {
            let name = self.label(old);
            return Err(GraphErrorKind::UpdateType {
                name,
                expected,
                found,
            }
            .into());
        }
        if self.reaches_client(new, old) {
            return Err(GraphErrorKind::Cycle.into());
        }
        let clients = self.clients(old).to_vec();
        self.redirect(old, new, &clients);
        Ok(())
    }

    /// Moves the given uses of `old` to `new`, which must not depend on them through anything but `old` itself.
    pub(crate) fn redirect(&mut self, old: ValueId, new: ValueId, clients: &[Client]) {
        for client in clients {
            match *client {
                Client::Output(position) => self.outputs[position] = new,
                Client::Node(node, position) => self.change_input(node, position, new),
            }
        }
        self.values[old.index()]
            .clients
            .retain(|c| !clients.contains(c));
        self.values[new.index()].clients.extend_from_slice(clients);
    }

    fn change_input(&mut self, id: NodeId, position: usize, new: ValueId) {
        let node = &mut self.nodes[id.index()];
        let before = Self::key(&node.op, &node.inputs);
        node.inputs[position] = new;
        let after = Self::key(&node.op, &node.inputs);
        if let Some(listed) = self.interned.get_mut(&before) {
            listed.retain(|n| *n != id);
        }
        self.interned.entry(after).or_default().push(id);
    }

    /// Whether computing `from` runs through a node that takes `target`.
    fn reaches_client(&self, from: ValueId, target: ValueId) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut pending = vec![from];
        while let Some(value) = pending.pop() {
            if let Some((node, _)) = self.owner(value)
                && !std::mem::replace(&mut seen[node.index()], true)
            {
                let inputs = self.node_inputs(node);
                if inputs.contains(&target) {
                    return true;
                }
                pending.extend_from_slice(inputs);
            }
        }
        false
    }

    /// Checks the arena: clients and inputs agree, owners and outputs agree, there is no cycle.
    ///
    /// # Errors
    /// `Cycle`, or `Inconsistent` naming the value whose books do not balance.
    pub fn validate(&self) -> Result<()> {
        let inconsistent = |value: ValueId| GraphErrorKind::Inconsistent {
            name: self.label(value),
        };
        let mut uses = 0;
        for (index, value) in self.values.iter().enumerate() {
            let id = ValueId(index as u32);
            for client in &value.clients {
                uses += 1;
                let seen = match *client {
                    Client::Node(node, position) => self.nodes[node.index()].inputs.get(position),
                    Client::Output(position) => self.outputs.get(position),
                };
                if seen != Some(&id) {
                    return Err(inconsistent(id).into());
                }
            }
            if let Source::Node(node, position) = value.source
                && self.nodes[node.index()].outputs.get(position as usize) != Some(&id)
            {
                return Err(inconsistent(id).into());
            }
        }
        let expected =
            self.nodes.iter().map(|n| n.inputs.len()).sum::<usize>() + self.outputs.len();
        if uses != expected {
            return Err(GraphErrorKind::ClientCount {
                expected,
                found: uses,
            }
            .into());
        }
        self.toposort().map(|_| ())
    }
}
