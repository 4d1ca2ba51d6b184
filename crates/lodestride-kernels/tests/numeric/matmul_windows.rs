//! Products of matrices and the windows of images.

use lodestride_buffer::DType;
use lodestride_kernels::{Isa, matmul_windows, set_threads};
use lodestride_shape::Layout;

use crate::matmul::whole;
use crate::support::{Arrangement, Array};
use crate::{Report, floats, zeros};

/// Images of an arrangement, seen as windows: `[n, c, height, width, rows, columns]`.
fn windows_of(
    images: &Array,
    [height, width]: [usize; 2],
    apart: [isize; 2],
    step: isize,
) -> Array {
    let (sizes, strides) = (images.layout.shape(), images.layout.strides());
    let reach = [height, width].map(|size| size - 1);
    let count = [0, 1].map(|axis| {
        let last = sizes[axis + 2] - 1 - reach[axis] * apart[axis].unsigned_abs();
        last / if axis == 0 { step.unsigned_abs() } else { 1 } + 1
    });
    let shape = [sizes[0], sizes[1], height, width, count[0], count[1]];
    let steps = [
        strides[0],
        strides[1],
        strides[2] * apart[0],
        strides[3] * apart[1],
        strides[2] * step,
        strides[3],
    ];
    Array {
        buffer: images.buffer.clone(),
        layout: Layout::new(shape, steps, images.layout.offset()).unwrap(),
        dtype: images.dtype,
    }
}

/// Every sum as its definition says it; numbers are whole, so that no order changes it.
fn reference(weights: &Array, windows: &Array) -> Vec<f64> {
    let (shape, m) = (windows.layout.shape(), weights.layout.shape()[0]);
    let (k, n) = (shape[1..4].iter().product::<usize>(), shape[4] * shape[5]);
    let (left, right) = (floats(weights), floats(windows));
    let sum = |at: usize| {
        let (image, i, j) = (at / (m * n), at / n % m, at % n);
        (0..k)
            .map(|p| left[i * k + p] * right[(image * k + p) * n + j])
            .sum()
    };
    (0..shape[0] * m * n).map(sum).collect()
}

#[test]
fn every_layout_of_images_and_weights_matches_the_reference() {
    let _held = crate::settings();
    let (mut report, mut done) = (Report::default(), 0);
    let best = Isa::detect();
    let mut settings: Vec<(Isa, usize)> = Isa::available().map(|isa| (isa, 1)).collect();
    settings.push((best, 4));
    // Rows of the weights, images, their channels, height and width, windows, elements of those apart, and rows of windows apart.
    let cases = [
        (1, [1, 1, 1, 1], [1, 1], [1, 1], 1),
        (1, [2, 1, 5, 16], [2, 3], [1, 1], 1),
        (3, [1, 2, 4, 17], [3, 2], [1, 1], 1),
        (7, [2, 3, 9, 30], [3, 3], [2, 2], 1),
        (8, [3, 2, 7, 50], [2, 1], [1, 1], 2),
        (9, [1, 4, 1, 75], [1, 9], [1, 3], 1),
        // Steps in several blocks, rows in several panels, parts for threads.
        (17, [2, 40, 6, 35], [3, 4], [1, 1], 1),
        (20, [2, 8, 40, 52], [5, 5], [1, 1], 1),
        (21, [9, 16, 12, 28], [5, 5], [1, 1], 1),
        (700, [1, 90, 2, 70], [2, 2], [1, 1], 1),
    ];
    for dtype in [DType::F32, DType::F64] {
        for (m, images, size, apart, step) in cases {
            let k = images[1] * size[0] * size[1];
            for arrangement in Arrangement::ALL {
                let of_weights = match arrangement {
                    Arrangement::C => Arrangement::F,
                    Arrangement::F => Arrangement::Reversed,
                    other => other,
                };
                let x = Array::new(&images, arrangement, dtype, whole);
                let windows = windows_of(&x, size, apart, step);
                let weights = Array::new(&[m, k], of_weights, dtype, |i| whole(i + 3));
                let sizes = windows.layout.shape();
                let shape = [sizes[0], m, sizes[4] * sizes[5]];
                let wanted = reference(&weights, &windows);
                let lies = windows.layout.strides()[5] == 1 || sizes[5] == 1;
                for &(isa, threads) in &settings {
                    assert!(isa.select());
                    set_threads(threads);
                    let out = zeros(&shape, dtype);
                    let case = format!(
                        "{isa} {threads} {dtype}: {m} by {images:?}, {size:?}, {arrangement:?}"
                    );
                    let (x, y, z) = (weights.operand(), windows.operand(), out.operand());
                    if matmul_windows(x, y, z).unwrap() {
                        report.compare(&case, &out, &wanted, 0.0);
                        report.check(&case, lies);
                        done += 1;
                    } else {
                        let is_untouched = floats(&out).iter().all(|&value| value == 0.0);
                        report.check(&format!("{case}: written to"), is_untouched);
                    }
                }
            }
        }
    }
    best.select();
    set_threads(0);
    let has_vectors = matches!(best, Isa::Avx2 | Isa::Avx512);
    report.check("some are done in place", done > 0 || !has_vectors);
    report.finish();
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let of = |shape: &[usize]| zeros(shape, DType::F32);
    let mut report = Report::default();
    for (weights, windows, out) in [
        // Steps, rows of the matrix, number of images, number of windows, axes.
        (vec![2, 7], vec![1, 2, 1, 3, 4, 5], vec![1, 2, 20]),
        (vec![2, 6], vec![1, 2, 1, 3, 4, 5], vec![1, 3, 20]),
        (vec![2, 6], vec![3, 2, 1, 3, 4, 5], vec![1, 2, 20]),
        (vec![2, 6], vec![1, 2, 1, 3, 4, 5], vec![1, 2, 21]),
        (vec![2, 6], vec![1, 6, 4, 5], vec![1, 2, 20]),
        (vec![6], vec![1, 2, 1, 3, 4, 5], vec![1, 1, 20]),
    ] {
        let [x, y, z] = [&weights, &windows, &out].map(|shape| of(shape));
        let found = matmul_windows(x.operand(), y.operand(), z.operand());
        let case = format!("{weights:?} by {windows:?} into {out:?}");
        report.check(&case, found.is_err());
    }
    report.finish();
}
