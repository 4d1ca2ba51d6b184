//! Steady loops allocate nothing. Alone in its file, because the counters are those of the whole process.

use lodestride_array::{NdArray, Workspace, memory};

#[test]
fn in_place_loops_allocate_nothing() {
    let (a, b) = (
        NdArray::ones([3, 3]).unwrap(),
        NdArray::full([3, 3], 0.5).unwrap(),
    );
    let (row, out) = (NdArray::ones([3]).unwrap(), a.dup().unwrap());
    let turn = || {
        a.addi(&b).unwrap().muli(0.5).unwrap().tanhi().unwrap();
        a.subi(&row).unwrap();
        a.add_into(&b, &out).unwrap();
        out.assign(&a).unwrap();
        a.row(0).unwrap().addi(1).unwrap();
    };
    turn();
    let before = memory::stats();
    (0..10).for_each(|_| turn());
    assert_eq!(
        memory::stats().heap_bytes_allocated,
        before.heap_bytes_allocated
    );
    let workspace = Workspace::new("STEP");
    let step = || {
        workspace
            .scope(|_| {
                a.mmul(&b)
                    .unwrap()
                    .add(&row)
                    .unwrap()
                    .exp()
                    .unwrap()
                    .sum_number()
                    .unwrap()
            })
            .unwrap()
    };
    let first = step();
    (0..3).for_each(|_| assert_eq!(step(), first));
    let before = memory::stats();
    (0..10).for_each(|_| assert_eq!(step(), first));
    assert_eq!(
        memory::stats().heap_bytes_allocated,
        before.heap_bytes_allocated
    );
}
