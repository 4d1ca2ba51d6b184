//! Looking at graphs: as a text tree, as DOT, as a self-contained SVG.

mod debugprint;
mod dot;
mod svg;

pub use debugprint::debugprint;

use crate::error::Result;
use crate::fgraph::FunctionGraph;
use crate::function::Function;
use crate::variable::Variable;

/// The colours of the guide: apply nodes blue, variables red, ops green, types purple.
mod colour {
    pub(super) const APPLY: &str = "#4a7fd6";
    pub(super) const VARIABLE: &str = "#d64a4a";
    pub(super) const OP: &str = "#3fa34d";
    pub(super) const TYPE: &str = "#8e5bc7";
    pub(super) const CONSTANT: &str = "#e0a0a0";
}

impl Variable {
    /// The expression as a tree in Theano's style; see [`debugprint`].
    pub fn debugprint(&self) -> String {
        debugprint(&[self])
    }

    /// The expression in the DOT language.
    ///
    /// # Errors
    /// None for graphs built through this crate's calls.
    pub fn to_dot(&self) -> Result<String> {
        Ok(FunctionGraph::import(&[], std::slice::from_ref(self))?.to_dot())
    }

    /// The expression as an SVG picture.
    ///
    /// # Errors
    /// None for graphs built through this crate's calls.
    pub fn to_svg(&self) -> Result<String> {
        Ok(FunctionGraph::import(&[], std::slice::from_ref(self))?.to_svg())
    }
}

impl FunctionGraph {
    /// The graph as a tree in Theano's style, each node with its place in the order of execution.
    pub fn debugprint(&self) -> String {
        debugprint::print_graph(self, true)
    }

    /// The graph in the DOT language, in the guide's colours.
    pub fn to_dot(&self) -> String {
        dot::to_dot(self)
    }

    /// The graph as a self-contained SVG picture, layered from inputs to outputs, in the guide's colours.
    pub fn to_svg(&self) -> String {
        svg::to_svg(self)
    }
}

impl Function {
    /// The optimised graph as a tree in Theano's style.
    pub fn debugprint(&self) -> String {
        self.graph().debugprint()
    }

    /// The optimised graph in the DOT language.
    pub fn to_dot(&self) -> String {
        self.graph().to_dot()
    }

    /// The optimised graph as a self-contained SVG picture.
    pub fn to_svg(&self) -> String {
        self.graph().to_svg()
    }
}
