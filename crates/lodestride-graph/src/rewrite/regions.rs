//! Which elementwise nodes are computed together: the regions that `fuse` makes programs of.
//!
//! A region is computed at one place, so what is contracted must stay without cycles: nothing between two nodes of a region may
//! lie outside it. Nodes come in from the end of the order. One whose users are in several regions joins them, if none of these
//! waits for another; a cheap one that cannot be computed together with all its users is computed again in each, which costs less
//! than a way through memory.

use crate::fgraph::{Client, FunctionGraph, NodeId, ValueId};
use crate::ops::Elemwise;
use crate::ty::Dim;
use lodestride_array::kernels::{BinaryOp, UnaryOp};
use smallvec::SmallVec;
use std::collections::HashSet;

/// More instructions than this in one program spill its tiles out of the first cache level.
const MAX_STEPS: usize = 48;
/// Nodes looked at, per node of the graph, to see whether a region waits for another.
const LOOKS: usize = 8;

/// A place in an order that more can be put into, after any of its places.
type Rank = (usize, usize);

/// A few regions, each by the number of a node that has its shape.
type Places = SmallVec<[NodeId; 2]>;

/// The regions of a graph.
pub(super) struct Regions<'g> {
    graph: &'g FunctionGraph,
    live: Vec<bool>,
    /// Per node, its place in the order.
    at: Vec<usize>,
    /// Per elementwise node: the region that computes it for whoever is in none.
    home: Vec<Option<NodeId>>,
    /// Per node, the regions that compute it; known when those of its users are.
    held: Vec<Places>,
    /// Per region, its nodes; in order once all are found.
    members: Vec<Vec<NodeId>>,
    /// Per region, and per node of none: before those of all that waits for it.
    ranks: Vec<Rank>,
    /// Regions put after others so far.
    moved: usize,
    /// Nodes that may still be looked at.
    looks: usize,
}

impl<'g> Regions<'g> {
    pub(super) fn find(graph: &'g FunctionGraph, order: &[NodeId]) -> Self {
        let nodes = graph.nodes.len();
        let mut regions = Self {
            graph,
            live: graph.live_nodes(),
            at: vec![0; nodes],
            home: vec![None; nodes],
            held: vec![Places::new(); nodes],
            members: vec![Vec::new(); nodes],
            ranks: vec![(0, 0); nodes],
            moved: 0,
            looks: LOOKS * order.len(),
        };
        for (place, node) in order.iter().enumerate() {
            regions.at[node.index()] = place;
            regions.ranks[node.index()] = (place, 0);
        }
        for node in order.iter().rev() {
            if graph.op(*node).is::<Elemwise>() {
                regions.place(*node);
            }
        }
        regions.repeat_cheap(order);
        for members in &mut regions.members {
            members.sort_by_key(|node| regions.at[node.index()]);
        }
        regions
    }

    /// The region that computes a node for whoever is in none.
    pub(super) fn home(&self, node: NodeId) -> Option<NodeId> {
        self.home[node.index()]
    }

    /// The nodes of a region, in order.
    pub(super) fn members(&self, region: NodeId) -> &[NodeId] {
        &self.members[region.index()]
    }

    /// Whether somebody takes a node's value from memory.
    pub(super) fn is_stored(&self, node: NodeId) -> bool {
        let held = &self.held[node.index()];
        let takes = |user: &NodeId| {
            let places = &self.held[user.index()];
            self.home(*user).is_none() || !places.iter().all(|p| held.contains(p))
        };
        self.is_output(node) || self.users(node).iter().any(takes)
    }

    /// Finds the region of a node whose users have theirs.
    fn place(&mut self, node: NodeId) {
        let mut regions: SmallVec<[NodeId; 4]> = SmallVec::new();
        for user in self.users(node) {
            if let Some(region) = self.home[user.index()]
                && !regions.contains(&region)
                && self.fits(node, region)
            {
                regions.push(region);
            }
        }
        let mut joined: Option<NodeId> = None;
        for region in regions {
            joined = match joined {
                None => self.may_join(node, region).then_some(region),
                Some(other) if self.may_unite(other, region) => Some(self.unite(other, region)),
                Some(other) => Some(other),
            };
        }
        // Uniting may have opened a way around.
        let joined = joined.filter(|region| self.may_join(node, *region));
        let region = joined.unwrap_or(node);
        self.home[node.index()] = Some(region);
        self.members[region.index()].push(node);
    }

    /// An elementwise node's value.
    fn value(&self, node: NodeId) -> ValueId {
        self.graph.node_outputs(node)[0]
    }

    /// The nodes that take what a node computes, and that some output waits for.
    fn users(&self, node: NodeId) -> SmallVec<[NodeId; 4]> {
        let outputs = self.graph.node_outputs(node).iter();
        let clients = outputs.flat_map(|value| self.graph.clients(*value));
        let users = clients.filter_map(|client| match client {
            Client::Node(user, _) if self.live[user.index()] => Some(*user),
            Client::Node(..) | Client::Output(_) => None,
        });
        users.collect()
    }

    fn is_output(&self, node: NodeId) -> bool {
        let clients = self.graph.clients(self.value(node));
        clients
            .iter()
            .any(|client| matches!(client, Client::Output(_)))
    }

    fn may_join(&mut self, node: NodeId, region: NodeId) -> bool {
        if self.members[region.index()].len() >= MAX_STEPS {
            return false;
        }
        let mut others = self.users(node).into_vec();
        others.retain(|user| self.home[user.index()] != Some(region));
        let is_wanted_outside = self.is_output(node) || !others.is_empty();
        !is_wanted_outside || (self.are_alike(node, region) && self.come_after(others, region))
    }

    /// Whether two elementwise nodes certainly have one shape.
    fn are_alike(&self, a: NodeId, b: NodeId) -> bool {
        self.graph.same_shape(self.value(a), self.value(b))
    }

    fn may_unite(&mut self, a: NodeId, b: NodeId) -> bool {
        let size = self.members[a.index()].len() + self.members[b.index()].len();
        if size >= MAX_STEPS || !self.are_alike(a, b) {
            return false;
        }
        // What leaves the first must not come back to the second. What leaves the second comes after both.
        let (first, second) = if self.ranks[a.index()] < self.ranks[b.index()] {
            (a, b)
        } else {
            (b, a)
        };
        let mut leaving = Vec::new();
        for member in &self.members[first.index()] {
            let outside = |user: &NodeId| {
                let home = self.home[user.index()];
                home != Some(first) && home != Some(second)
            };
            leaving.extend(self.users(*member).into_iter().filter(outside));
        }
        self.come_after(leaving, second)
    }

    /// One region of two; the later of their last nodes is the last of both.
    fn unite(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let (from, to) = if self.at[a.index()] < self.at[b.index()] {
            (a, b)
        } else {
            (b, a)
        };
        self.ranks[to.index()] = self.ranks[a.index()].max(self.ranks[b.index()]);
        let moved = std::mem::take(&mut self.members[from.index()]);
        for node in &moved {
            self.home[node.index()] = Some(to);
        }
        self.members[to.index()].extend(moved);
        to
    }

    /// Whether these nodes may come after a region because it does not wait for them, and if so lets them and what waits for them
    /// rank after it; no if finding out takes too long.
    fn come_after(&mut self, mut pending: Vec<NodeId>, region: NodeId) -> bool {
        let base = self.ranks[region.index()].0;
        let mut before: Vec<NodeId> = Vec::new();
        let mut seen: HashSet<NodeId> = HashSet::new();
        while let Some(node) = pending.pop() {
            let unit = self.home[node.index()].unwrap_or(node);
            if unit == region {
                return false;
            }
            // All that waits for what ranks after the region does too. A region is left where any of its values is used.
            if self.ranks[unit.index()].0 > base || !seen.insert(unit) {
                continue;
            }
            if self.looks == 0 {
                return false;
            }
            before.push(unit);
            let alone = [unit];
            let members = match self.home[unit.index()] {
                Some(_) => &self.members[unit.index()][..],
                None => &alone,
            };
            for member in members {
                pending.extend(self.users(*member));
            }
            self.looks = self.looks.saturating_sub(members.len());
        }
        before.sort_by_key(|unit| self.ranks[unit.index()]);
        for unit in before {
            self.moved += 1;
            self.ranks[unit.index()] = (base, self.moved);
        }
        true
    }

    /// Whether a node may be computed with the shape of a region's result.
    fn fits(&self, node: NodeId, region: NodeId) -> bool {
        let [ty, target] = [node, region].map(|node| self.graph.ty(self.value(node)));
        if ty.rank() != target.rank() || ty.is_lod() != target.is_lod() {
            return false;
        }
        let rows = usize::from(ty.is_lod());
        let mut pairs = ty.dims().iter().zip(target.dims()).skip(rows);
        // Known to be stretched later: computing it once before the stretch is cheaper.
        pairs.all(|(a, b)| *a != Dim::Known(1) || *b == Dim::Known(1))
    }

    /// Computes cheap nodes again in the regions of their users, where that saves their value from memory.
    fn repeat_cheap(&mut self, order: &[NodeId]) {
        for node in order.iter().rev() {
            let Some(home) = self.home[node.index()] else {
                continue;
            };
            self.held[node.index()].push(home);
            let Some(places) = self.repeats(*node, home) else {
                continue;
            };
            for region in places.iter().filter(|region| **region != home) {
                self.members[region.index()].push(*node);
            }
            if !places.contains(&home) {
                self.members[home.index()].retain(|member| member != node);
            }
            self.held[node.index()] = places;
        }
    }

    /// The regions in which a node is to be computed, if that is to be more than one or another than its own.
    fn repeats(&self, node: NodeId, home: NodeId) -> Option<Places> {
        let op = *self.graph.op(node).downcast_ref::<Elemwise>()?;
        if !is_cheap(op) || self.is_output(node) {
            return None;
        }
        let mut places = Places::new();
        for user in self.users(node) {
            self.home(user)?;
            for place in &self.held[user.index()] {
                if !places.contains(place) {
                    places.push(*place);
                }
            }
        }
        let others = places.iter().filter(|place| **place != home);
        let takes = |place: &NodeId| {
            self.members[place.index()].len() < MAX_STEPS && self.are_alike(node, *place)
        };
        if others.clone().count() == 0 || !others.clone().all(takes) {
            return None;
        }
        let inputs = self.graph.node_inputs(node);
        // Operands from its own region would have to be written instead of it.
        let from_home = |v: &ValueId| {
            (self.graph.owner(*v)).is_some_and(|(maker, _)| self.home[maker.index()] == Some(home))
        };
        let whole = |v: &&ValueId| self.graph.same_shape(**v, self.value(node));
        let whole = inputs.iter().filter(whole).count();
        // Its operands read, its value written and read everywhere else; or its operands read everywhere.
        let saves = whole * places.len() <= whole + 1 + others.count();
        (saves && !inputs.iter().any(from_home)).then_some(places)
    }
}

/// Whether an op takes no longer than its operands take from memory.
fn is_cheap(op: Elemwise) -> bool {
    match op {
        Elemwise::Cast(_) | Elemwise::Select => true,
        Elemwise::Unary(op) => matches!(
            op,
            UnaryOp::Neg
                | UnaryOp::Abs
                | UnaryOp::Square
                | UnaryOp::Sign
                | UnaryOp::OneMinus
                | UnaryOp::Relu
        ),
        Elemwise::Binary(op) => {
            matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Max | BinaryOp::Min
            ) || op.is_comparison()
        }
    }
}
