//! Text, tables and ND4J's stream: what is written comes back, foreign files are read, wrong ones are typed errors.
#![expect(clippy::too_many_lines, reason = "tables of cases")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use lodestride_array::{Bool, bf16, f16, memory, s};
use lodestride_serde::{
    DType, Header, NdArray, Order, SerdeError, SerdeErrorKind, TextProblem, csv, native, nd4j, npy,
    npz, txt,
};
use proptest::prelude::*;
use support::{
    Folder, every_case, for_each_case, kept_order, pattern, same, text, without_location,
};

fn through_text(array: &NdArray) -> Result<(String, NdArray), String> {
    let mut bytes = Vec::new();
    txt::write_to(&mut bytes, array).map_err(text)?;
    let back = txt::read_from(&bytes[..]).map_err(text)?;
    Ok((String::from_utf8(bytes).map_err(text)?, back))
}

#[test]
fn text_keeps_every_dtype_layout_and_order() {
    let cases = every_case(&["txt"], |_, _| true);
    for_each_case(cases, |(_, _, _, array)| {
        let (text, back) = through_text(array)?;
        same(array, &back)?;
        // A text has no order of its own where both are the same.
        let order = if array.rank() > 1 {
            kept_order(array)
        } else {
            back.order()
        };
        if back.order() != order && !array.is_empty() && array.len() > 1 {
            return Err(format!(
                "order {:?}, expected {order:?}, of {text}",
                back.order()
            ));
        }
        Ok(())
    });
}

#[test]
fn texts_look_as_nd4j_reads_them() {
    let a = NdArray::from([
        [[1.0f32, -2.5], [0.0, 1e20]],
        [[f32::NAN, f32::INFINITY], [0.1, 3.0]],
    ]);
    let (text, _) = through_text(&a.dup_order(Order::F).unwrap()).unwrap();
    assert_eq!(
        text,
        "{\n\"filefrom\": \"dl4j\",\n\"ordering\": \"f\",\n\"shape\":\t[2, 2, 2],\n\"dtype\": \"f32\", \"data\":\n\
         [[[1E0, -2.5E0],\n  [0E0, 1E20]],\n\n [[NaN, Infinity],\n  [1E-1, 3E0]]]\n}\n"
    );
    let (text, _) = through_text(&NdArray::from(2.5f64)).unwrap();
    assert!(
        text.ends_with("\"shape\":\t[],\n\"dtype\": \"f64\", \"data\":\n2.5E0\n}\n"),
        "{text}"
    );
    // Line by line as ND4J's reader does: from the sixth line on a line that is not empty is a row.
    let cube = pattern(DType::F64, &[2, 3, 4]);
    let (text, _) = through_text(&cube).unwrap();
    let rows = text
        .lines()
        .skip(5)
        .filter(|line| !line.is_empty() && *line != "}");
    for (row, line) in rows.enumerate() {
        let numbers = line.replace(['[', ']', ' '], "");
        let found: Vec<f64> = numbers
            .trim_end_matches(',')
            .split(',')
            .map(|n| n.parse().unwrap())
            .collect();
        assert_eq!(
            found,
            (0..4).map(|i| (row * 4 + i) as f64).collect::<Vec<_>>()
        );
    }
}

/// S8: ranks 0 to 4, every shape of ones and twos, both orders, the values of ND4J's own test.
#[test]
fn nd4js_shapes_and_values_come_back() {
    let shapes = (0..5u32).flat_map(|rank| {
        (0..1 << rank).map(move |bits| {
            (0..rank)
                .map(|axis| 1 + (bits >> axis & 1))
                .collect::<Vec<usize>>()
        })
    });
    let cases: Vec<_> = shapes
        .chain([
            vec![5],
            vec![3, 4],
            vec![2, 5, 3],
            vec![4, 3, 2, 3],
            vec![2, 0, 3],
            vec![0],
        ])
        .flat_map(|shape| [Order::C, Order::F].map(|order| (shape.clone(), order)))
        .collect();
    for_each_case(cases, |(shape, order)| {
        for (value, dtype) in [(10001.1234, DType::F64), (100_000.0, DType::F32)] {
            let a = NdArray::full(shape.clone(), value)
                .and_then(|a| a.cast(dtype))
                .map_err(text)?;
            let a = a.dup_order(*order).map_err(text)?;
            same(&a, &through_text(&a)?.1)?;
        }
        Ok(())
    });
}

fn nd4j_text(order: char, shape: &str, data: &str) -> String {
    format!(
        "{{\n\"filefrom\": \"dl4j\",\n\"ordering\": \"{order}\",\n\"shape\":\t{shape},\n\"data\":\n{data}\n}}\n"
    )
}

#[test]
fn texts_of_nd4j_are_read() {
    let ones = |shape: &[usize], values: &[f64]| NdArray::from_vec(values.to_vec(), shape).unwrap();
    let cases = [
        // Version 1.0: 18 decimals, brackets for each axis.
        (
            nd4j_text(
                'c',
                "[2, 2]",
                "[[1.000123400000000000E4, 1.000000000000000000E0], \n [-3.500000000000000000E-3, 0.000000000000000000E0]]",
            ),
            ones(&[2, 2], &[10001.234, 1.0, -0.0035, 0.0]),
        ),
        (nd4j_text('f', "[2, 2]", "[[1.00,2.00],\n [3.00,4.00]]"), ones(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
        // Earlier versions print columns without inner brackets, and lone numbers without any.
        (nd4j_text('c', "[2, 1]", "[1.00, \n 2.00]"), ones(&[2, 1], &[1.0, 2.0])),
        (nd4j_text('c', "[1, 1]", "5.0"), ones(&[1, 1], &[5.0])),
        (nd4j_text('c', "[1, 1]", "[[5.0]]"), ones(&[1, 1], &[5.0])),
        (nd4j_text('c', "[]", "5.0"), ones(&[], &[5.0])),
        (nd4j_text('c', "[3]", "[1.0E0,2.0E0,3.0E0]"), ones(&[3], &[1.0, 2.0, 3.0])),
        (nd4j_text('c', "[0]", "[]"), ones(&[0], &[])),
        (nd4j_text('c', "[2]", "[\u{fffd},-\u{221e}]"), ones(&[2], &[f64::NAN, f64::NEG_INFINITY])),
        // The colon inside the quotes, Windows lines, members in another order.
        (
            "{\"filefrom:\" \"dl4j\",\r\n\"ordering:\" \"c\",\r\n\"data\": [1,\r\n2], \"shape\": [2]}".to_owned(),
            ones(&[2], &[1.0, 2.0]),
        ),
        (
            "{\"filefrom\": \"dl4j\", \"shape\": [2], \"dtype\": \"i64\", \"data\": [-9223372036854775808, 3.0E0]}".to_owned(),
            NdArray::from([i64::MIN, 3]),
        ),
    ];
    for_each_case(cases, |(source, expected)| {
        let found = txt::read_from(source.as_bytes()).map_err(text)?;
        if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
            return Err(format!("{found:?}"));
        }
        let close = found.all_close(expected, 0.0, 0.0).map_err(text)?;
        let both_nan = found.to_string() == expected.to_string();
        if close || both_nan {
            Ok(())
        } else {
            Err(found.to_string())
        }
    });
}

#[test]
fn wrong_texts_are_errors_with_their_place() {
    let good = nd4j_text('c', "[2, 2]", "[[1, 2],\n [3, 4]]");
    let data = |data: &str| nd4j_text('c', "[2, 2]", data);
    let cases: Vec<(String, &str)> = vec![
        (
            String::new(),
            "line 1, column 1: expected `{`, found the end of the text",
        ),
        (
            "1,2\n".into(),
            "line 1, column 1: expected `{`, found `1,2`",
        ),
        (
            good.replace("dl4j", "numpy"),
            "line 2, column 13: expected \"dl4j\": text of ND4J or of this crate, found `\"numpy\",`",
        ),
        (
            good.replace("\"c\"", "\"e\""),
            "line 3, column 13: expected \"c\" or \"f\", found `\"e\",`",
        ),
        (
            good.replace("[2, 2]", "[2, -2]"),
            "line 4, column 14: expected a size that fits 64 bits, found `-2],`",
        ),
        (
            good.replace("[2, 2]", "[2, 99999999999999999999]"),
            "line 4, column 14: expected a size that fits 64 bits, found `99999999999999999999],`",
        ),
        (
            good.replace("\"data\"", "\"dtype\": \"f33\", \"data\""),
            "line 5, column 10: expected the name of a dtype, such as \"f32\", found `\"f33\", \"data\":`",
        ),
        (
            good.replace("\"data\"", "\"date\""),
            "line 5, column 1: expected \"filefrom\", \"ordering\", \"shape\", \"dtype\" or \"data\", found `\"date\":`",
        ),
        (
            data("[[1, 2], [3, x]]"),
            "line 6, column 14: `x` is not a number of f64",
        ),
        (
            data("[[1, 2], [3]]"),
            "line 7, column 1: the shape is [2, 2], but there are 3 numbers",
        ),
        (
            data("[[1, 2], [3, 4, 5]]"),
            "line 6, column 15: expected a comma, and brackets where a row of the shape ends, found `, 5]]`",
        ),
        (
            data("[1, 2, 3, 4]"),
            "line 6, column 2: expected a first number inside one bracket for each axis, found `1, 2, 3, 4]`",
        ),
        (
            data("[[1, 2, 3, 4]]"),
            "line 6, column 7: expected a comma, and brackets where a row of the shape ends, found `, 3, 4]]`",
        ),
        (
            data("[[1 2], [3, 4]]"),
            "line 6, column 4: expected a comma, and brackets where a row of the shape ends, found ` 2], [3, 4]]`",
        ),
        (
            data("[[1, 2], [3, 4]"),
            "line 7, column 1: expected a number, `,`, `[` or `]`, found `}`",
        ),
        (
            good.replace("\"shape\":\t[2, 2],\n", ""),
            "line 8, column 1: expected the member \"shape\", found the end of the text",
        ),
        (
            good.clone() + "x",
            "line 9, column 1: expected the end of the text, found `x`",
        ),
        (
            good.replace("[2, 2]", "[4611686018427387904, 4]"),
            "the header claims shape [4611686018427387904, 4] of f64, more than any memory holds",
        ),
        (
            data("[[1, 2], [3, \"4\"]]"),
            "line 6, column 14: expected a number, `,`, `[` or `]`, found `\"4\"]]`",
        ),
    ];
    for_each_case(cases, |(source, expected)| {
        let Err(error) = txt::read_from(source.as_bytes()) else {
            return Err("was read".to_owned());
        };
        let text = without_location(&error);
        if text.starts_with(expected) && text.contains("help: ") {
            Ok(())
        } else {
            Err(text)
        }
    });
    let error = txt::read_from(&b"{\n\xff"[..]).unwrap_err();
    let found = error.kind();
    assert!(
        matches!(
            found,
            SerdeErrorKind::Text {
                line: 2,
                column: 1,
                problem: TextProblem::NotUtf8
            }
        ),
        "{error}"
    );
}

#[test]
fn a_text_cut_anywhere_is_an_error() {
    let (whole, _) = through_text(&pattern(DType::F32, &[2, 3])).unwrap();
    for_each_case(0..whole.trim_end().len(), |&length| {
        match txt::read_from(&whole.as_bytes()[..length]) {
            Ok(array) => Err(format!("was read as {array}")),
            Err(_) => Ok(()),
        }
    });
}

#[test]
fn claims_of_texts_cost_no_memory() {
    let before = memory::stats().heap_bytes_allocated;
    let huge = nd4j_text('c', "[1099511627776]", "[1, 2]");
    let error = txt::read_from(huge.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("there are 2 numbers"), "{error}");
    assert!(memory::stats().heap_bytes_allocated - before < 1 << 20);
}

const FIELDS: [&str; 24] = [
    "1",
    "-2.5",
    "+3",
    "1e3",
    "1E-2",
    "2.",
    ".5",
    "",
    "-9",
    "NA",
    "\"4\"",
    "\"4",
    "inf",
    "-NaN",
    "300",
    "1-2",
    "1.2.3",
    "007",
    "12345678.12345678",
    "9007199254740993",
    "-0",
    "true",
    "1e",
    "\u{2212}1",
];
const PADS: [&str; 5] = ["", "", "", " ", "\t "];
const DELIMITERS: [&str; 13] = [
    ",", ", ", ";", "\t", " ", "::", " | ", "", "1", ".", "e", "-", "\u{e9}",
];
const DTYPES: [DType; 7] = [
    DType::F32,
    DType::F64,
    DType::F16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::Bool,
];

fn options() -> csv::Options {
    csv::Options::new()
}

#[test]
fn tables_come_back_in_every_dtype() {
    let cases: Vec<_> = every_case(&[",", ", ", "\t", ";", "::", " | ", ""], |_, _| true)
        .into_iter()
        // A text without a cell does not say how many columns it has.
        .filter(|(_, _, _, array)| array.rank() == 2 && !array.is_empty())
        .collect();
    for_each_case(cases, |(delimiter, dtype, _, array)| {
        let options = match *delimiter {
            "" => options().blanks(),
            delimiter => options().delimiter(delimiter),
        }
        .dtype(*dtype);
        let mut text_of = Vec::new();
        options.write_to(&mut text_of, array).map_err(text)?;
        let back = options.read_from(&text_of[..]).map_err(text)?;
        same(array, &back)
    });
}

#[test]
fn tables_are_read_as_they_come() {
    type Table<'t> = (csv::Options, &'t str, &'t [&'t str], NdArray);
    let f32s = |rows: usize, values: &[f32]| {
        NdArray::from_vec(values.to_vec(), [rows, values.len() / rows.max(1)]).unwrap()
    };
    let cases: Vec<Table<'_>> = vec![
        (options(), "1,2\n3,4\n", &[], f32s(2, &[1.0, 2.0, 3.0, 4.0])),
        (
            options(),
            "1,2\r\n\r\n3,4",
            &[],
            f32s(2, &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            options(),
            "\u{feff}1 , 2\n 3,\t4 \n",
            &[],
            f32s(2, &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            options().delimiter(", "),
            "1, 2\n3, 4",
            &[],
            f32s(2, &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            options().header(true),
            "a,\"b,c\"\n1,2\n",
            &["a", "b,c"],
            f32s(1, &[1.0, 2.0]),
        ),
        (
            options().header(true).skip_lines(2),
            "x\ny\na,b\n1,2\n",
            &["a", "b"],
            f32s(1, &[1.0, 2.0]),
        ),
        (
            options().comment("#"),
            "# a\n1,2\n#3,4\n",
            &[],
            f32s(1, &[1.0, 2.0]),
        ),
        (
            options().missing(-1.0),
            "1,,3\n,2,\n",
            &[],
            f32s(2, &[1.0, -1.0, 3.0, -1.0, 2.0, -1.0]),
        ),
        (
            options().missing(0.5).missing_word("NA"),
            "1,NA\n",
            &[],
            f32s(1, &[1.0, 0.5]),
        ),
        (
            options().columns([2, 0, 2]).header(true),
            "a,b,c\n1,x,3\n4,y,6",
            &["c", "a", "c"],
            f32s(2, &[3.0, 1.0, 3.0, 6.0, 4.0, 6.0]),
        ),
        (
            options().delimiter("\t"),
            "1\t2\n3\t4",
            &[],
            f32s(2, &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            options().blanks(),
            "  1 2\n3    4  \n",
            &[],
            f32s(2, &[1.0, 2.0, 3.0, 4.0]),
        ),
        (options(), "1e3\n-.5\n", &[], f32s(2, &[1000.0, -0.5])),
        (options(), "\"1\",\" 2\"\n", &[], f32s(1, &[1.0, 2.0])),
        (options(), "", &[], NdArray::zeros([0, 0]).unwrap()),
        (
            options().header(true),
            "a,b\n",
            &["a", "b"],
            NdArray::zeros([0, 2]).unwrap(),
        ),
        (
            options().dtype(DType::I64),
            "9223372036854775807,-1\n",
            &[],
            NdArray::from([[i64::MAX, -1]]),
        ),
        (
            options().dtype(DType::Bool),
            "1,false\n",
            &[],
            NdArray::from([[true, false]]),
        ),
        (
            options().dtype(DType::F64),
            "0.1\n",
            &[],
            NdArray::from([[0.1f64]]),
        ),
    ];
    for (index, (options, source, names, expected)) in cases.into_iter().enumerate() {
        let (found_names, found) = options.read_named_from(source.as_bytes()).unwrap();
        assert_eq!(found_names, names, "case {index}");
        if found.is_empty() {
            assert_eq!(found.shape(), expected.shape(), "case {index}");
        } else {
            let trimmed = same(&expected, &found);
            assert!(trimmed.is_ok(), "case {index}: {trimmed:?}");
        }
    }
}

#[test]
fn wrong_tables_are_errors_with_their_place() {
    let cases: Vec<(csv::Options, &str, &str)> = vec![
        (
            options(),
            "1,2\n3,four\n",
            "line 2, column 3: `four` is not a number of f32",
        ),
        (
            options(),
            "1,2\n3\n",
            "line 2, column 1: a row of 1 field(s), where the rows before it have 2",
        ),
        (
            options(),
            "1,2\n3,4,5\n",
            "line 2, column 1: a row of 3 field(s), where the rows before it have 2",
        ),
        (
            options().header(true),
            "a,b\n1\n",
            "line 2, column 1: a row of 1 field(s), where the rows before it have 2",
        ),
        (
            options(),
            "1,\n",
            "line 1, column 3: an empty field is not a number of f32",
        ),
        (
            options().delimiter(", "),
            "1,2\n",
            "line 1, column 1: `1,2` is not a number of f32",
        ),
        (
            options().dtype(DType::U8),
            "255,256\n",
            "line 1, column 5: `256` is not a number of u8",
        ),
        (
            options().dtype(DType::I32),
            "1.5\n",
            "line 1, column 1: `1.5` is not a number of i32",
        ),
        (
            options().columns([3]),
            "1,2\n",
            "line 1, column 1: a row of 2 field(s), where the rows before it have 4",
        ),
        (
            options(),
            "\u{e9}\u{e9},\u{e9}\n",
            "line 1, column 1: `\u{e9}\u{e9}` is not",
        ),
        (
            options().delimiter(""),
            "1\n",
            "\"\" cannot separate fields: it is empty; call `blanks()`",
        ),
        (
            options().delimiter("\n"),
            "1\n",
            "\"\\n\" cannot separate fields: lines end there",
        ),
        (
            options().delimiter("\""),
            "1\n",
            "\"\\\"\" cannot separate fields: quotes stand around fields",
        ),
    ];
    for_each_case(cases, |(options, source, expected)| {
        let Err(error) = options.read_from(source.as_bytes()) else {
            return Err("was read".to_owned());
        };
        let text = without_location(&error);
        if text.starts_with(expected) && text.contains("help: ") {
            Ok(())
        } else {
            Err(text)
        }
    });
    let cube = pattern(DType::F32, &[2, 2, 2]);
    let folder = Folder::new("csv");
    let path = folder.0.join("a.csv");
    let error = csv::write(&path, &cube).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("3 axes are more than the 2 a file may have"),
        "{error}"
    );
    let named = options().names(["a", "b", "c"]);
    let error = named
        .write(&path, &pattern(DType::F32, &[2, 2]))
        .unwrap_err();
    assert!(
        error.to_string().starts_with("3 name(s) for 2 column(s)"),
        "{error}"
    );
    assert!(folder.names().is_empty());
}

#[test]
fn tables_go_through_files_with_names() {
    let folder = Folder::new("csv-files");
    let path = folder.0.join("tmp.csv");
    let a = pattern(DType::F32, &[3, 2]);
    // The guide: Nd4j.readNumpy("tmp.csv", ", ")
    let options = options().delimiter(", ").names(["x", "a, b"]);
    options
        .write(&path, &a.transpose().get(&s![.., ..2]).unwrap())
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "x, \"a, b\"\n0.0, 2.0\n1.0, 3.0\n"
    );
    let (names, back) = options.header(true).read_named(&path).unwrap();
    assert_eq!(names, ["x", "a, b"]);
    assert_eq!(back.to_vec::<f32>().unwrap(), [0.0, 2.0, 1.0, 3.0]);
    csv::write(&path, &a).unwrap();
    same(&a, &csv::read(&path).unwrap()).unwrap();
    csv::write(&path, &pattern(DType::F32, &[3])).unwrap();
    assert_eq!(csv::read(&path).unwrap().shape()[..], [3, 1]);
    assert_eq!(
        csv::read(folder.0.join("none")).unwrap_err().path(),
        Some(folder.0.join("none").as_path())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn floats_of_any_bits_come_back_as_text(bits in proptest::collection::vec(any::<u64>(), 1..20)) {
        let check = |array: NdArray| -> Result<(), TestCaseError> {
            let found = through_text(&array).map_err(TestCaseError::fail)?.1;
            prop_assert_eq!(same(&array, &found), Ok(()));
            let column = array.reshape([array.len(), 1]).unwrap();
            let options = options().dtype(array.dtype());
            let mut table = Vec::new();
            options.write_to(&mut table, &column).unwrap();
            prop_assert_eq!(same(&column, &options.read_from(&table[..]).unwrap()), Ok(()));
            Ok(())
        };
        // The payload of NaN is the one thing a text does not keep.
        let f64s = bits.iter().map(|&b| f64::from_bits(b)).map(|x| if x.is_nan() { 0.0 } else { x });
        let f32s = bits.iter().map(|&b| f32::from_bits(b as u32)).map(|x| if x.is_nan() { 0.0 } else { x });
        check(NdArray::from_vec(f64s.collect(), [bits.len()]).unwrap())?;
        check(NdArray::from_vec(f32s.collect(), [bits.len()]).unwrap())?;
        check(NdArray::from_vec(bits.iter().map(|&b| b.cast_signed()).collect(), [bits.len()]).unwrap())?;
        check(NdArray::from_vec(bits.clone(), [bits.len()]).unwrap())?;
    }

    /// Numbers are read while their end is looked for; not so where a word for what is missing looks like one. Choosing all columns goes
    /// another way too.
    #[test]
    fn fields_are_read_alike_one_by_one_and_on_the_way(
        fields in proptest::collection::vec((0..FIELDS.len(), 0..PADS.len(), 0..PADS.len()), 6),
        delimiter in 0..DELIMITERS.len(),
        missing in 0..4,
        dtype in 0..DTYPES.len(),
    ) {
        let delimiter = DELIMITERS[delimiter];
        let mut options = match delimiter {
            "" => options().blanks(),
            delimiter => options().delimiter(delimiter),
        }
        .dtype(DTYPES[dtype]);
        options = match missing {
            0 => options,
            1 => options.missing(7.5),
            2 => options.missing(7.5).missing_word("-9"),
            _ => options.missing_word("1e3"),
        };
        let between = if delimiter.is_empty() { " " } else { delimiter };
        let fields: Vec<String> = fields
            .iter()
            .map(|&(field, before, after)| format!("{}{}{}", PADS[before], FIELDS[field], PADS[after]))
            .collect();
        let text = fields.chunks(3).map(|row| row.join(between)).collect::<Vec<_>>().join("\r\n");
        let found = options.read_from(text.as_bytes());
        if missing == 1 {
            let careful = options.clone().missing_word("no 1 here").read_from(text.as_bytes());
            let show = |result: &Result<NdArray, SerdeError>| match result {
                Ok(table) => format!("{table:?}"),
                Err(error) => without_location(error),
            };
            prop_assert_eq!(show(&found), show(&careful), "{}", text);
        }
        let found_width = found.as_ref().map_or(3, |table| table.shape()[1]);
        let one_by_one = options.columns((0..found_width).collect::<Vec<_>>()).read_from(text.as_bytes());
        match (found, one_by_one) {
            (Ok(found), Ok(one_by_one)) => prop_assert_eq!(format!("{found:?}"), format!("{one_by_one:?}"), "{}", text),
            // How wide a row is that cannot be read, and so which columns to choose, is known only where no field is cut in two.
            (Err(_), _) if !matches!(delimiter, "," | ", " | ";" | "::" | "\u{e9}") => {}
            (Err(_), Err(other)) if matches!(other.kind(), SerdeErrorKind::Text { problem: TextProblem::Fields { .. }, .. }) => {}
            (Err(found), Err(one_by_one)) => prop_assert_eq!(
                without_location(&found),
                without_location(&one_by_one),
                "{}",
                text
            ),
            (found, one_by_one) => prop_assert!(false, "{:?}: {:?}, {:?}", text, found, one_by_one),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..120) {
        let _ = txt::read_from(&bytes[..]);
        let _ = options().read_from(&bytes[..]);
        let _ = nd4j::read_from(&bytes[..]);
        let _ = native::from_bytes(bytes.clone());
        // A good beginning, then anything.
        let mut mixed = nd4j_text('c', "[3]", "[1, 2, 3]").into_bytes();
        mixed.truncate(cut);
        mixed.extend_from_slice(&bytes);
        let _ = txt::read_from(&mixed[..]);
    }
}

/// S9, S11 and S12, through bytes and headers.
#[test]
fn native_bytes_are_shared_and_headers_read_alone() {
    let cases = every_case(&["bytes"], |_, _| true);
    for_each_case(cases, |(_, dtype, _, array)| {
        let bytes = native::to_bytes(array).map_err(text)?;
        let shared: std::sync::Arc<[u8]> = bytes.clone().into();
        let found = native::from_bytes(shared.clone())
            .and_then(|stored| stored.into_array())
            .map_err(text)?;
        same(array, &found)?;
        let (start, address) = (shared.as_ptr() as usize, found.buffer().address());
        let inside = (start..=start + shared.len()).contains(&address);
        if !inside && !array.is_empty() {
            return Err("the elements were copied".to_owned());
        }
        drop(shared);
        same(array, &found)?;
        if found.addi(1).is_ok() && *dtype != DType::Bool && !array.is_empty() {
            return Err("shared bytes were written".to_owned());
        }
        let mut written = Vec::new();
        native::write_to(&mut written, array).map_err(text)?;
        if written != bytes || bytes.capacity() != bytes.len() {
            return Err("to_bytes and write_to differ".to_owned());
        }
        Ok(())
    });
    let folder = Folder::new("headers");
    let a = pattern(DType::F16, &[3, 4]).transpose();
    npy::write(folder.0.join("a.npy"), &a).unwrap();
    native::write(folder.0.join("a.lds"), &a).unwrap();
    let mut writer = npz::Writer::create(folder.0.join("a.npz")).unwrap();
    writer.array("a", &a).unwrap();
    writer.finish().unwrap();
    let headers: Vec<Result<Header, SerdeError>> = vec![
        npy::read_header(folder.0.join("a.npy")),
        native::read_header(folder.0.join("a.lds")),
        npz::Reader::open(folder.0.join("a.npz")).and_then(|mut reader| reader.header("a")),
    ];
    for header in headers {
        let header = header.unwrap();
        assert_eq!(header.to_string(), "f16 [4, 3] F");
        assert_eq!(
            (header.len(), header.bytes(), header.is_empty()),
            (12, 24, false)
        );
    }
    let whole = std::fs::read(folder.0.join("a.npy")).unwrap();
    std::fs::write(folder.0.join("cut.npy"), &whole[..whole.len() - 1]).unwrap();
    let error = npy::read_header(folder.0.join("cut.npy")).unwrap_err();
    assert!(
        matches!(error.kind(), SerdeErrorKind::Truncated { .. }),
        "{error}"
    );
}

#[test]
fn shared_bytes_that_are_wrong_are_errors() {
    let bytes = native::to_bytes(&NdArray::from([true, false, true])).unwrap();
    for_each_case(0..bytes.len(), |&length| {
        match native::from_bytes(bytes[..length].to_vec()) {
            Ok(_) => Err("was read".to_owned()),
            Err(_) => Ok(()),
        }
    });
    assert!(native::from_bytes([&bytes[..], b"x"].concat()).is_err());
    // A bool that is neither 0 nor 1 is converted, in a copy whose checksum is looked at.
    let place = bytes.len() - 11;
    let mut odd = bytes.clone();
    odd[place] = 7;
    assert!(matches!(
        native::from_bytes(odd).unwrap_err().kind(),
        SerdeErrorKind::Checksum { .. }
    ));
    assert_eq!(Bool::from(true), Bool::TRUE);
    assert_eq!(
        (f16::from_f32(1.0).to_f32(), bf16::from_f32(1.0).to_f32()),
        (1.0, 1.0)
    );
}
