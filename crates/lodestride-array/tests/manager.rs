//! The manager of kinds: where arrays of a kind are made, moved and checked, and the words of its errors.

use lodestride_array::{
    DType, Misplaced, NdArray, Order, PlaceError, Workspace, WorkspaceManager, current_workspace,
    open_workspaces,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Input,
    Activation,
    Gradient,
    Unknown,
}
use Kind::*;

struct Fixture {
    inputs: Workspace,
    loops: Workspace,
    manager: WorkspaceManager<Kind>,
}

fn fixture() -> Fixture {
    let (inputs, loops) = (Workspace::new("INPUTS"), Workspace::new("LOOP"));
    let manager = WorkspaceManager::new()
        .assign(Input, &inputs)
        .assign(Activation, &loops)
        .scoped_out(Gradient);
    Fixture {
        inputs,
        loops,
        manager,
    }
}

#[test]
fn arrays_are_made_in_the_place_of_their_kind() {
    let Fixture {
        inputs,
        loops,
        manager,
    } = fixture();
    let open = manager.open([Input, Activation, Gradient, Input]).unwrap();
    assert_eq!(open_workspaces(), ["INPUTS", "LOOP"]);
    let input = manager.zeros(Input, DType::I32, [2, 3]).unwrap();
    assert!(input.buffer().is_attached_to(&inputs) && input.dtype() == DType::I32);
    let activation = manager.dup(Activation, &input).unwrap();
    assert!(activation.buffer().is_attached_to(&loops));
    let other = manager.dup_order(Input, &activation, Order::F).unwrap();
    assert!(other.buffer().is_attached_to(&inputs) && other.order() == Some(Order::F));
    let wide = manager.cast(Activation, &input, DType::F64).unwrap();
    assert!(wide.buffer().is_attached_to(&loops) && wide.dtype() == DType::F64);
    let gradient = manager.recycled(Gradient, DType::F32, [4]).unwrap();
    assert!(!gradient.is_attached());
    // Inside a borrow of the same workspace, too.
    let borrow = inputs.borrow().unwrap();
    let inner = manager.open([Activation]).unwrap();
    let nested = manager.zeros(Input, DType::F32, [1]).unwrap();
    assert!(nested.buffer().is_attached_to(&inputs));
    inner.close().unwrap();
    borrow.close().unwrap();
    assert!(current_workspace().unwrap().is_same(&loops), "as it was");
    open.close().unwrap();
    assert!(open_workspaces().is_empty());
    assert!(gradient.validate().is_ok() && input.validate().is_err());
}

#[test]
fn arrays_move_to_the_place_of_their_kind() {
    let Fixture { loops, manager, .. } = fixture();
    let _open = manager.open([Input, Activation]).unwrap();
    let input = manager.zeros(Input, DType::F32, [3]).unwrap();
    let moved = manager.leverage_to(Activation, &input).unwrap();
    assert!(moved.buffer().is_attached_to(&loops));
    let same = manager.leverage_to(Activation, &moved).unwrap();
    assert!(same.shares_memory(&moved));
    assert!(!manager.leverage_to(Gradient, &input).unwrap().is_attached());
    let heap = NdArray::ones([3]).unwrap().detach().unwrap();
    let stays = manager.leverage_to(Activation, &heap).unwrap();
    assert!(stays.shares_memory(&heap), "what is on the heap stays");
}

#[test]
fn locations_are_checked_in_nd4js_words() {
    let Fixture { manager, loops, .. } = fixture();
    let heap = NdArray::ones([3]).unwrap();
    let open = manager.open([Input, Activation]).unwrap();
    let input = manager.zeros(Input, DType::F32, [3]).unwrap();
    let check = |kind, array: &NdArray, strictly| {
        manager.validate_array_location(kind, array, Misplaced::Refuse, strictly)
    };
    assert!(check(Input, &input, true).unwrap().shares_memory(&input));
    assert!(check(Input, &heap, false).unwrap().shares_memory(&heap));
    assert!(check(Gradient, &heap, true).is_ok());
    let cases = [
        (
            check(Activation, &input, true),
            "Array workspace validation failed: Array of type Activation should be in workspace \"LOOP\" but is in workspace \
             \"INPUTS\"",
        ),
        (
            check(Input, &heap, true),
            "Array workspace validation failed: Array of type Input should be in workspace \"INPUTS\" but is detached",
        ),
        (
            check(Gradient, &input, true),
            "Array workspace validation failed: Array of type Gradient should be detached but is in workspace \"INPUTS\"",
        ),
    ];
    for (result, text) in cases {
        let error = result.unwrap_err();
        assert!(matches!(error, PlaceError::Misplaced { .. }));
        assert_eq!(error.to_string(), text);
    }
    let moved = manager
        .validate_array_location(Activation, &input, Misplaced::Move, true)
        .unwrap();
    assert!(moved.buffer().is_attached_to(&loops));
    let out = manager
        .validate_array_location(Gradient, &input, Misplaced::Move, true)
        .unwrap();
    assert!(!out.is_attached());
    open.close().unwrap();
    // A stale array is stale, wherever it should be.
    for kind in [Input, Activation, Gradient] {
        for misplaced in [Misplaced::Move, Misplaced::Refuse] {
            let error = manager.validate_array_location(kind, &input, misplaced, true);
            let error = error.unwrap_err();
            assert!(matches!(error, PlaceError::Array(_)), "{error}");
            assert!(error.to_string().contains("leaked"), "{error}");
        }
    }
}

#[test]
fn what_is_not_open_or_has_no_place_is_an_error() {
    let Fixture { manager, .. } = fixture();
    let closed = manager.zeros(Input, DType::F32, [3]).unwrap_err();
    assert!(matches!(closed, PlaceError::NotOpen { kind: Input, .. }));
    assert!(closed.to_string().contains("\"INPUTS\""), "{closed}");
    assert!(manager.expect_open(Gradient).is_ok());
    assert!(manager.expect_open(Input).is_err());
    let unassigned = [
        manager.zeros(Unknown, DType::F32, [3]).map(drop),
        manager.open([Input, Unknown]).map(drop),
        manager.workspace(Unknown).map(drop),
    ];
    for result in unassigned {
        let error = result.unwrap_err();
        assert!(matches!(error, PlaceError::Unassigned { kind: Unknown }));
    }
    assert!(open_workspaces().is_empty(), "nothing stays open");
    let open = manager.open([Input, Activation]).unwrap();
    assert!(manager.expect_current(Activation).is_ok());
    let error = manager.expect_current(Input).unwrap_err();
    assert!(
        matches!(&error, PlaceError::NotCurrent { current: Some(name), .. } if *name == "LOOP"),
        "{error}"
    );
    assert!(manager.is_scoped_out(Gradient).unwrap() && !manager.is_scoped_out(Input).unwrap());
    // Another thread has it open.
    std::thread::scope(|scope| {
        let other = scope.spawn(|| manager.open([Input]).map(drop).unwrap_err().to_string());
        assert!(other.join().unwrap().contains("another thread"));
    });
    open.close().unwrap();
}
