//! Symbolic graphs in the manner of Theano: build, differentiate, optimise, run.
