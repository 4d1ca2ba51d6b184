//! Arrays in files that lie in the page cache, beside one raw call that moves as many bytes.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lodestride::array::NdArray;
use lodestride::serde::{native, npy};

use crate::answers::{Data, Real, of_ours};
use crate::contest::{Contest, Failure};
use crate::record::Key;
use crate::suite::Suite;

/// A folder that goes when this does.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        let name = format!("lodestride-bench-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system's cleaning.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(suite: &mut Suite) -> Result<(), Failure> {
    of_type::<f32>(suite)?;
    of_type::<f64>(suite)
}

fn of_type<T: Real>(suite: &mut Suite) -> Result<(), Failure> {
    let count = suite.size(10_000_000, 1_000_000);
    let size = if count == 10_000_000 { "1e7" } else { "1e6" };
    let names = [
        "io.npy.write",
        "io.npy.read",
        "io.native.write",
        "io.native.read",
        "io.npy.mapped",
    ];
    let keys = names.map(|name| suite.wants(name, size, T::NAME));
    if keys.iter().all(Option::is_none) {
        return Ok(());
    }
    let folder = Folder::new()?;
    let array = Data::<T>::new(&[count], 1, 0.1, 1.0).ours()?;
    let [npy_write, npy_read, native_write, native_read, npy_mapped] = keys;
    let path = folder.file("array.npy");
    write(suite, npy_write, &folder, &array, &|array| {
        Ok(npy::write(&path, array)?)
    })?;
    npy::write(&path, &array)?;
    read(suite, npy_read, &path, &array, &|| Ok(npy::read(&path)?))?;
    mapped(suite, npy_mapped, &path, &array)?;
    let path = folder.file("array.native");
    write(suite, native_write, &folder, &array, &|array| {
        Ok(native::write(&path, array)?)
    })?;
    native::write(&path, &array)?;
    read(suite, native_read, &path, &array, &|| {
        Ok(native::read(&path)?.into_array()?)
    })
}

/// Beside a new file, one call that writes all bytes, and the renaming that makes the file appear whole.
fn write(
    suite: &mut Suite,
    key: Option<Key>,
    folder: &Folder,
    array: &NdArray,
    ours: &dyn Fn(&NdArray) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(key) = key else {
        return Ok(());
    };
    let bytes = array.to_bytes()?;
    let (path, partial) = (folder.file("raw"), folder.file("raw.partial"));
    let mut contest = Contest::new(key, 0.0);
    let done = |()| Ok(vec![bytes.len() as f64]);
    contest.ours(|| ours(array), done)?;
    contest.rival(
        "raw write",
        || {
            File::create(&partial)?.write_all(&bytes)?;
            fs::rename(&partial, &path)
        },
        done,
    )?;
    suite.run(contest)
}

/// Beside one call that reads all bytes into memory that is there.
fn read(
    suite: &mut Suite,
    key: Option<Key>,
    path: &Path,
    array: &NdArray,
    ours: &dyn Fn() -> Result<NdArray, Failure>,
) -> Result<(), Failure> {
    let Some(key) = key else {
        return Ok(());
    };
    let length = array.len() * array.dtype().size();
    let memory = RefCell::new(vec![0u8; length]);
    let mut contest = Contest::new(key, 0.0);
    contest.ours(ours, of_ours)?;
    contest.rival(
        "raw read",
        || File::open(path)?.read_exact(&mut memory.borrow_mut()),
        // The bytes are not numbers; what counts is that they were read.
        |()| of_ours(array.clone()),
    )?;
    suite.run(contest)
}

/// The sum of an array that lies in a mapped file, beside the same sum of an array in memory: what a mapped element costs.
fn mapped(
    suite: &mut Suite,
    key: Option<Key>,
    path: &Path,
    array: &NdArray,
) -> Result<(), Failure> {
    let Some(key) = key else {
        return Ok(());
    };
    let mapped = npy::open_mapped(path)?;
    let mut contest = Contest::new(key, 0.0);
    contest.ours(|| mapped.sum(..), of_ours)?;
    contest.rival("in memory", || array.sum(..), of_ours)?;
    suite.run(contest)
}
