//! "Workspaces" and "scope panic": the two errors, the two sequences of events behind them, and the cures.

use lodestride::Result;
use lodestride::array::kernels::KernelError;
use lodestride::array::{AccessError, Argument, ArrayError, ArrayErrorKind};
use lodestride::buffer::{SpillPolicy, WorkspaceStats};
use lodestride::prelude::*;

/// What the door said, whichever layer reports it.
fn access(error: &ArrayError) -> Option<&AccessError> {
    match error.kind() {
        ArrayErrorKind::Access { source, .. } => Some(source),
        ArrayErrorKind::Kernel {
            source: KernelError::Access { source, .. },
        } => Some(source),
        _ => None,
    }
}

/// An array of a workspace that is closed again.
fn leaked_from(workspace: &Workspace) -> Result<NdArray> {
    Ok(workspace.scope(|_| NdArray::ones([3, 4]))??)
}

/// "Memory is reused instead of being allocated and freed in each iteration of a loop."
#[test]
fn a_loop_in_a_workspace_allocates_once() -> Result<()> {
    let workspace = Workspace::new("LOOP");
    let step = || -> Result<f64> {
        workspace.scope(|_| -> Result<f64> {
            let a = NdArray::ones([64, 64])?;
            Ok(a.add(&a)?.mul(3)?.sum_number()?)
        })?
    };
    // The first turn teaches the workspace its size.
    for _ in 0..2 {
        assert_eq!(step()?, 6.0 * 4096.0);
    }
    let before = memory::thread_stats().system_bytes;
    let arena = workspace.stats().size;
    for _ in 0..20 {
        step()?;
    }
    assert_eq!(memory::thread_stats().system_bytes, before);
    let WorkspaceStats { size, spilled, .. } = workspace.stats();
    assert_eq!((size, spilled), (arena, 0));
    Ok(())
}

/// "Op [set] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]".
#[test]
fn the_leaked_message_is_the_guides() -> Result<()> {
    let leaked = leaked_from(&Workspace::new("LOOP_EXTERNAL"))?;
    let target = NdArray::zeros([3, 4])?;
    let error = target.assign(&leaked).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "Op [assign] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]"
        ),
        "{error}"
    );
    let added = target.add(&leaked).unwrap_err().to_string();
    let first = "Op [add] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]: the workspace is no \
                 longer open\n";
    assert!(added.starts_with(first), "{added}");
    for help in [
        "f32 [3, 4]",
        "was allocated at",
        "help: ",
        "`detach()`",
        "`leverage_to(..)`",
        "`scope_out(..)`",
    ] {
        assert!(added.contains(help), "{help}: {added}");
    }
    // The guide's line, word for word: ND4J calls the operation `set`.
    let stale = access(&error).expect("an access error");
    let as_nd4j = stale.explain("set", Argument::Y, &"f32 [3, 4]").to_string();
    let guide = "Op [set] Y argument uses leaked workspace pointer from workspace [LOOP_EXTERNAL]";
    assert!(as_nd4j.starts_with(guide), "{as_nd4j}");
    assert_eq!(target.sum_number()?, 0.0, "nothing was written");
    Ok(())
}

/// "Op [set] Y argument uses outdated workspace pointer from workspace [LOOP_EXTERNAL]".
#[test]
fn the_outdated_message_is_the_guides() -> Result<()> {
    let workspace = Workspace::new("LOOP_EXTERNAL");
    let outdated = leaked_from(&workspace)?;
    workspace.scope(|_| -> Result<()> {
        let target = NdArray::zeros([3, 4])?;
        let error = target.assign(&outdated).unwrap_err();
        let first =
            "Op [assign] Y argument uses outdated workspace pointer from workspace [LOOP_EXTERNAL]";
        assert!(error.to_string().starts_with(first), "{error}");
        let stale = access(&error).expect("an access error");
        let as_nd4j = stale.explain("set", Argument::Y, &"f32 [3, 4]").to_string();
        let guide =
            "Op [set] Y argument uses outdated workspace pointer from workspace [LOOP_EXTERNAL]";
        assert!(as_nd4j.starts_with(guide), "{as_nd4j}");
        assert_eq!(target.sum_number()?, 0.0, "nothing was written");
        Ok(())
    })?
}

/// "The sequence of events of a leaked array": W opened, X allocated in W, W closed, X used.
#[test]
fn an_array_used_after_its_workspace_is_leaked() -> Result<()> {
    let w = Workspace::new("W");
    let opened = w.enter()?;
    let x = NdArray::ones([2, 3])?;
    assert!(x.is_attached() && x.is_in_scope());
    assert_eq!(x.sum_number()?, 6.0);
    opened.close()?;
    assert!(x.is_attached() && !x.is_in_scope());
    let error = x.sum_number().unwrap_err();
    assert!(
        matches!(access(&error), Some(AccessError::Leaked(stale)) if &*stale.workspace.to_string() == "W"),
        "{error}"
    );
    Ok(())
}

/// "The sequence of events of an outdated pointer": X of iteration 1 used in iteration 2.
#[test]
fn an_array_of_an_earlier_iteration_is_outdated() -> Result<()> {
    let w = Workspace::new("W");
    let opened = w.enter()?;
    let x = NdArray::ones([2, 3])?;
    opened.close()?;
    let again = w.enter()?;
    let y = NdArray::ones([2, 3])?;
    let error = y.add(&x).unwrap_err();
    let found = access(&error);
    let outdated = |stale: &AccessError| match stale {
        AccessError::Outdated(stale) => stale.current_generation == stale.generation + 1,
        AccessError::Leaked(_) | AccessError::InUse(_) | AccessError::ReadOnly(_) => false,
    };
    assert!(found.is_some_and(outdated), "{error}");
    again.close()?;
    Ok(())
}

/// Cure 1: "`INDArray.detach()`: the array is no longer associated with a workspace."
#[test]
fn detach_frees_an_array_from_its_workspace() -> Result<()> {
    let w = Workspace::new("W");
    let detached = w.scope(|_| NdArray::ones([2, 3])?.detach())??;
    assert!(!detached.is_attached());
    w.scope(|_| detached.addi(1).map(drop))??;
    assert_eq!(detached.sum_number()?, 12.0);
    Ok(())
}

/// Cure 2: "`try (MemoryWorkspace scopedOut = ..scopeOutOfWorkspaces())`: arrays of the block belong to no workspace."
#[test]
fn scope_out_allocates_outside_of_all_workspaces() -> Result<()> {
    let (w, inner) = (Workspace::new("W"), Workspace::new("INNER"));
    let (out, attached) = w.scope(|_| {
        inner.scope(|_| -> Result<_> {
            let out = scope_out(|| NdArray::ones([2, 3]))?;
            Ok((out, NdArray::ones([2, 3])?))
        })
    })???;
    assert!(!out.is_attached() && attached.is_attached());
    assert_eq!(out.sum_number()?, 6.0);
    assert!(attached.sum_number().is_err());
    Ok(())
}

/// Cure 3: "`leverage()`, `leverageTo(String)` or `migrate()` move the array to a parent workspace."
#[test]
fn leverage_and_migrate_move_arrays_to_other_workspaces() -> Result<()> {
    let (outer, inner) = (Workspace::new("OUTER"), Workspace::new("INNER"));
    outer.scope(|outer| -> Result<()> {
        let (to, up, lost) = inner.scope(|_| -> Result<_> {
            let x = NdArray::ones([2, 3])?;
            Ok((x.leverage_to(outer)?, x.leverage()?, x))
        })??;
        for array in [&to, &up] {
            assert!(array.is_attached());
            assert_eq!(array.sum_number()?, 6.0);
        }
        assert!(lost.sum_number().is_err());
        // `migrate` copies into the workspace that is current.
        let migrated = inner.scope(|_| to.migrate())??;
        assert!(migrated.sum_number().is_err() && to.sum_number().is_ok());
        Ok(())
    })?
}

/// "Disabling the scope panic can crash the JVM": here no check can be switched off, whatever the configuration.
#[test]
fn no_configuration_switches_the_checks_off() -> Result<()> {
    let configurations = [
        WorkspaceConfig::new(),
        WorkspaceConfig::new().initial_size(1 << 16),
        WorkspaceConfig::new().spill(SpillPolicy::Reallocate),
    ];
    for config in configurations {
        let workspace = Workspace::with_config("W", config);
        let x = leaked_from(&workspace)?;
        assert!(x.sum_number().is_err() && x.to_vec::<f32>().is_err());
        assert!(x.to_string().contains("leaked workspace pointer"));
    }
    Ok(())
}

/// "Wrap the iterator in an AsyncShieldDataSetIterator": another thread may read while the workspace is open.
#[test]
fn another_thread_may_use_an_array_while_its_workspace_is_open() -> Result<()> {
    let workspace = Workspace::new("PREFETCH");
    let x = workspace.scope(|_| -> Result<NdArray> {
        let x = NdArray::ones([2, 3])?;
        let sum = std::thread::scope(|threads| threads.spawn(|| x.sum_number()).join());
        assert_eq!(sum.expect("no panic")?, 6.0);
        Ok(x)
    })??;
    let late = std::thread::scope(|threads| threads.spawn(|| x.sum_number()).join());
    assert!(late.expect("no panic").is_err());
    Ok(())
}
