//! Steady loops allocate nothing. Alone in its file, because the counters are those of the whole process.

use lodestride_array::{DType, NdArray, PadMode, Result, Rng, Windows, Workspace, memory};

/// A method's name and a call of it.
type Step<'a> = (&'static str, &'a dyn Fn() -> Result<()>);

/// The names of those that allocate when they are called again.
fn allocating(steps: &[Step<'_>]) -> Vec<&'static str> {
    let allocates = |step: &&Step<'_>| {
        step.1().expect(step.0);
        let before = memory::stats().heap_bytes_allocated;
        (0..10).for_each(|_| step.1().expect(step.0));
        memory::stats().heap_bytes_allocated != before
    };
    steps.iter().filter(allocates).map(|step| step.0).collect()
}

/// `_into` forms whose kernels write where they are told to.
fn outputs_are_written_where_they_are() {
    let of = |dtype, shape: &[usize]| NdArray::ones_of(dtype, shape).expect("memory");
    let f = |shape: &[usize]| of(DType::F32, shape);
    let (a, b, r, c) = (f(&[3, 4]), f(&[3, 4]), f(&[4]), f(&[3]));
    let at = of(DType::I64, &[2]);
    let (two, rows, wide, tall) = (f(&[2, 4]), f(&[6, 4]), f(&[3, 8]), f(&[4, 4]));
    let (padded, stacked) = (f(&[5, 6]), f(&[2, 3, 4]));
    let found = of(DType::I64, &[4]);
    let mask = of(DType::Bool, &[3, 4]);
    let (image, columns) = (f(&[1, 1, 3, 3]), f(&[1, 1, 2, 2, 2, 2]));
    let (square, one) = (f(&[3, 3]), f(&[]));
    let steps: &[Step<'_>] = &[
        ("take_into", &|| a.take_into(&at, 0, &two)),
        ("concat_into", &|| NdArray::concat_into(&[&a, &b], 0, &rows)),
        ("vstack_into", &|| NdArray::vstack_into(&[&a, &b], &rows)),
        ("hstack_into", &|| NdArray::hstack_into(&[&a, &b], &wide)),
        ("stack_into", &|| {
            NdArray::stack_into(&[&a, &b], 0, &stacked)
        }),
        ("tile_into", &|| a.tile_into([2, 1], &rows)),
        ("repeat_into", &|| a.repeat_into(2, 0, &rows)),
        ("roll_into", &|| a.roll_into(1, 1, &b)),
        ("append_into", &|| a.append_into(1, 0, 0, &tall)),
        ("pad_into", &|| a.pad_into([1, 1], 0, &padded)),
        ("pad_with_into", &|| {
            a.pad_with_into([1, 1], &PadMode::Edge, &padded)
        }),
        ("pad_with_into", &|| {
            a.pad_with_into([1, 1], &PadMode::Wrap, &padded)
        }),
        ("select_into", &|| mask.select_into(&a, 0, &b)),
        ("clip_into", &|| a.clip_into(0, 1, &b)),
        ("cumsum_into", &|| a.cumsum_into(0, &b)),
        ("argmax_into", &|| a.argmax_into(0, &found)),
        ("var_ddof_into", &|| a.var_ddof_into(0, 0, &r)),
        ("layer_norm_into", &|| {
            a.layer_norm_into(1, None, None, 1e-5, &b)
        }),
        ("add_row_vector_into", &|| a.add_row_vector_into(&r, &b)),
        ("im2col_into", &|| {
            image.im2col_into(&Windows::new([2, 2]), &columns)
        }),
        ("outer_into", &|| c.outer_into(&r, &a)),
        ("trace_into", &|| square.trace_into(&one)),
        ("matmul_into", &|| a.matmul_into(&r, &c)),
        ("fill_bernoulli", &|| {
            Rng::seeded(1).fill_bernoulli(&mask, 0.5)
        }),
        ("fill_integers", &|| {
            Rng::seeded(1).fill_integers(&found, 0, 9)
        }),
        ("fill_log_normal", &|| {
            Rng::seeded(1).fill_log_normal(&b, 0.0, 1.0)
        }),
    ];
    let found = allocating(steps);
    assert!(found.is_empty(), "{found:?} allocate");
}

#[test]
fn in_place_loops_allocate_nothing() {
    outputs_are_written_where_they_are();
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
