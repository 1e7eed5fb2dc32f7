//! Files within a reach, for Python.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ethos_registry_filesystem::{
    Access, Entry, Errno, Fault, FileType, Protects, Reach, Rules, Stat, Target,
};
use pyo3::exceptions::{PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;

use crate::call::checked;

/// The real paths: absolute and without links. `None` for one that does not exist or cannot be
/// resolved.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
pub(crate) fn real_paths(py: Python<'_>, paths: Vec<PathBuf>) -> Vec<Option<OsString>> {
    py.detach(|| {
        let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
        paths
            .iter()
            .map(|path| real(path).map(PathBuf::into_os_string))
            .collect()
    })
}

/// Files that stay closed inside permitted folders.
///
/// `closed` are absolute paths that stay closed, `closed_names` rows of names (`.ssh`,
/// `.aws/credentials`) that are closed wherever they are; the two `…_to_writing` may be read.
/// What the paths lead to is judged for each `ScopedFiles`.
#[pyclass(module = "ethos_registry._core", frozen)]
pub(crate) struct ProtectedFiles {
    rules: Arc<Rules>,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
impl ProtectedFiles {
    #[new]
    #[pyo3(signature = (*, closed=vec![], closed_names=vec![], closed_to_writing=vec![],
                        closed_names_to_writing=vec![]))]
    fn new(
        closed: Vec<PathBuf>,
        closed_names: Vec<PathBuf>,
        closed_to_writing: Vec<PathBuf>,
        closed_names_to_writing: Vec<PathBuf>,
    ) -> Self {
        let mut rules = Rules::default();
        rules.add(&closed, &closed_names, Protects::FromAll);
        rules.add(
            &closed_to_writing,
            &closed_names_to_writing,
            Protects::FromWriting,
        );
        Self {
            rules: Arc::new(rules),
        }
    }
}

/// Files below permitted folders, opened so that no link, `..` or race leaves them.
///
/// `read` and `write` are absolute folders or single files; reading needs one of the first,
/// writing one of the second. What `protected` closes stays closed.
/// Relative paths are below `working_folder`. Refusals are `PermissionError`s whose text starts
/// with `PATH_NOT_REACHABLE`, the rest are the system's `OSError`s.
#[pyclass(module = "ethos_registry._core", frozen)]
pub(crate) struct ScopedFiles {
    reach: Reach,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over")]
impl ScopedFiles {
    #[new]
    #[pyo3(signature = (read, write, working_folder, protected=None))]
    fn new(
        py: Python<'_>,
        read: Vec<PathBuf>,
        write: Vec<PathBuf>,
        working_folder: PathBuf,
        protected: Option<Py<ProtectedFiles>>,
    ) -> PyResult<Self> {
        if !working_folder.is_absolute() {
            return Err(PyValueError::new_err(format!(
                "`working_folder` must be absolute, got {}",
                working_folder.display()
            )));
        }
        let rules = protected.map_or_else(Arc::default, |files| Arc::clone(&files.get().rules));
        checked(|| {
            Ok(py.detach(|| Self {
                reach: Reach::new(&read, &write, working_folder, rules.resolve()),
            }))
        })
    }

    /// The bytes of a regular file; an `OSError` if it has more than `limit_bytes`.
    fn read(
        &self,
        py: Python<'_>,
        path: PathBuf,
        limit_bytes: u64,
    ) -> PyResult<Cow<'static, [u8]>> {
        let work = |reach: &Reach| reach.read(&path, limit_bytes);
        self.run(py, Access::Read, &path, work).map(Cow::Owned)
    }

    /// Create a file or replace its content in one step; its permissions stay.
    fn write(&self, py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
        self.run(py, Access::Write, &path, |reach| reach.write(&path, data))
    }

    /// Create a folder and those above it; one that exists stays as it is.
    fn make_folder(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.run(py, Access::Write, &path, |reach| reach.make_folder(&path))
    }

    /// `(kind, size_bytes, modified_seconds)` of a path, or `None` if nothing is there.
    fn look(&self, py: Python<'_>, path: PathBuf) -> PyResult<Option<(&'static str, u64, f64)>> {
        let found = self.run(py, Access::Read, &path, |reach| reach.look(&path))?;
        Ok(found.map(|entry| (kind(entry.kind), entry.size, entry.modified)))
    }

    /// `(name, kind, size_bytes, modified_seconds)` of each entry of a folder, by name.
    fn list(
        &self,
        py: Python<'_>,
        path: PathBuf,
    ) -> PyResult<Vec<(OsString, &'static str, u64, f64)>> {
        let entries = self.run(py, Access::Read, &path, |reach| reach.list(&path))?;
        let facts = |entry: Entry| (entry.name, kind(entry.kind), entry.size, entry.modified);
        Ok(entries.into_iter().map(facts).collect())
    }

    /// A descriptor of a regular file, which the caller closes, and its path without links.
    fn open(&self, py: Python<'_>, path: PathBuf) -> PyResult<(i32, OsString)> {
        let (file, real) = self.run(py, Access::Read, &path, |reach| reach.open(&path))?;
        Ok((file.into_raw_fd(), real.into_os_string()))
    }

    /// The path of a folder without links, and `(name, kind)` of each entry, by name.
    fn entries(
        &self,
        py: Python<'_>,
        path: PathBuf,
    ) -> PyResult<(OsString, Vec<(OsString, &'static str)>)> {
        let (real, names) = self.run(py, Access::Read, &path, |reach| reach.names(&path))?;
        let names = names.into_iter().map(|(name, found)| (name, kind(found)));
        Ok((real.into_os_string(), names.collect()))
    }

    /// Where a file is or will be written; `make_folders` creates missing ones.
    #[pyo3(signature = (path, *, make_folders=false))]
    fn target(slf: Bound<'_, Self>, path: PathBuf, make_folders: bool) -> PyResult<ScopedTarget> {
        let target = slf.get().run(slf.py(), Access::Write, &path, |reach| {
            reach.target(&path, make_folders)
        })?;
        Ok(ScopedTarget {
            files: slf.unbind(),
            target: Mutex::new(target),
            path,
        })
    }
}

/// A file that is to be written: `ScopedFiles.target` resolved its folder and its name.
#[pyclass(module = "ethos_registry._core", frozen)]
pub(crate) struct ScopedTarget {
    files: Py<ScopedFiles>,
    target: Mutex<Target>,
    path: PathBuf,
}

type Status = (u32, u64, u64, u64, i64);

#[pymethods]
impl ScopedTarget {
    /// The path without links.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        self.run(py, |_, target| Ok(target.path().into_os_string()))
    }

    /// `(mode, device, inode, size_bytes, modified_nanoseconds)` of what is there, or `None`.
    fn status(&self, py: Python<'_>) -> PyResult<Option<Status>> {
        let found = self.run(py, |_, target| target.status())?;
        Ok(found.as_ref().map(status))
    }

    /// Whether this process may write to the file itself, not just replace it.
    fn may_write(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |_, target| Ok(target.may_write()))
    }

    /// The content; an `OSError` if it has more than `limit_bytes`.
    fn read(&self, py: Python<'_>, limit_bytes: u64) -> PyResult<Cow<'static, [u8]>> {
        self.run(py, |reach, target| target.read(reach, limit_bytes))
            .map(Cow::Owned)
    }

    /// Try to take the advisory lock of the folder; an `OSError` if the folder has none.
    fn lock(&self, py: Python<'_>) -> PyResult<bool> {
        self.run(py, |_, target| target.lock())
    }

    /// Release the lock.
    fn unlock(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, |_, target| {
            target.unlock();
            Ok(())
        })
    }

    /// Create the file or replace its content in one step; its new `status`.
    fn replace(&self, py: Python<'_>, data: &[u8]) -> PyResult<Status> {
        let written = self.run(py, |reach, target| target.replace(reach, data))?;
        Ok(status(&written))
    }
}

impl ScopedTarget {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Reach, &mut Target) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let files = self.files.get();
        files.run(py, Access::Write, &self.path, |reach| {
            let mut target = self.target.lock().map_err(|_| Fault::KeptChanging)?;
            work(reach, &mut target)
        })
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::useless_conversion,
    reason = "the types differ between systems"
)]
fn status(stat: &Stat) -> Status {
    (
        stat.st_mode.into(),
        stat.st_dev as u64,
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_mtime as i64 * 1_000_000_000 + stat.st_mtime_nsec as i64,
    )
}

impl ScopedFiles {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        access: Access,
        path: &Path,
        work: impl FnOnce(&Reach) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        checked(|| {
            py.detach(|| work(&self.reach))
                .map_err(|fault| error(fault, access, path))
        })
    }
}

fn kind(found: FileType) -> &'static str {
    match found {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        _ => "other",
    }
}

fn error(fault: Fault, access: Access, path: &Path) -> PyErr {
    let shown = path.display();
    let why = match fault {
        Fault::NotPermitted => return refused(&format!("{access} not permitted for {shown}")),
        Fault::InvalidPath => {
            let shown = shown.to_string();
            let shown = shown.escape_debug();
            return refused(&format!(
                "{access} of {shown}: a path must have 1 to 4096 bytes and no NUL"
            ));
        }
        Fault::Protected => " is always denied: protected file",
        Fault::LeavesReach => " resolves outside the permitted folders",
        Fault::TooManyLinks => " follows too many symbolic links",
        Fault::KeptChanging => ": its folders kept changing while it was opened",
        Fault::NotRegular => ": not a regular file",
        Fault::TooLarge => {
            let text = format!("{shown} is too large to read");
            return PyOSError::new_err((Errno::FBIG.raw_os_error(), text));
        }
        Fault::System(errno) => {
            let code = errno.raw_os_error();
            let text = std::io::Error::from_raw_os_error(code).to_string();
            let text = text
                .split_once(" (os error")
                .map_or(&*text, |parts| parts.0);
            return PyOSError::new_err((code, text.to_owned(), path.as_os_str().to_owned()));
        }
    };
    refused(&format!("{access} of {shown}{why}"))
}

fn refused(text: &str) -> PyErr {
    PyPermissionError::new_err(format!("PATH_NOT_REACHABLE: {text}"))
}
