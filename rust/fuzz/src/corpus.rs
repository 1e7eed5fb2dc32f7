//! The recorded outputs, as their manifests list them, by the family that reduces them.

use std::fs;
use std::path::Path;

use ethos_registry_core::reduce::family_names;
use serde_json::Value;

use crate::oracle::Reducer;
use crate::random::Random;

/// The folders below `tests/corpus` that have a manifest.
const PARTS: [&str; 3] = ["given", "own", "fresh"];

/// Files of the project, and what would print them: the recorded outputs have none that is reduced.
const FILES: [(&str, &str, bool); 2] = [
    ("Cargo.lock", "cat Cargo.lock", false),
    ("rust/core/src/reduce/vitest.rs", "cat src/vitest.rs", true),
];

/// The beginning by which the family of an output is known.
const KNOWN_BYTES: usize = 24_000;

/// A recorded output.
pub(crate) struct Recorded {
    pub(crate) file: String,
    pub(crate) command: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) bytes: Vec<u8>,
    /// Whether a part of it would not be reduced.
    pub(crate) is_whole: bool,
}

/// The recorded outputs of one family.
pub(crate) struct Group {
    pub(crate) family: &'static str,
    outputs: Vec<Recorded>,
}

/// All recorded outputs.
pub(crate) struct Corpus(Vec<Group>);

impl Corpus {
    /// Reads the manifests in `project`, the folder of the project; `reducer` tells the families.
    pub(crate) fn read(
        project: &Path,
        reducer: &Reducer<'_>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut outputs = Vec::new();
        for part in PARTS {
            let folder = project.join("tests/corpus").join(part);
            let manifest: Vec<Value> =
                serde_json::from_slice(&fs::read(folder.join("manifest.json"))?)?;
            for entry in manifest {
                let word = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
                outputs.push(Recorded {
                    file: format!("{part}/{}", word("file")),
                    command: word("command").to_owned(),
                    exit_code: entry.get("exit_code").and_then(Value::as_i64),
                    bytes: fs::read(folder.join(word("file")))?,
                    is_whole: false,
                });
            }
        }
        for (file, command, is_whole) in FILES {
            outputs.push(Recorded {
                file: file.to_owned(),
                command: command.to_owned(),
                exit_code: Some(0),
                bytes: fs::read(project.join(file))?,
                is_whole,
            });
        }
        let corpus = Self::of(outputs, reducer);
        match corpus.0.iter().find(|group| group.outputs.is_empty()) {
            Some(group) => Err(format!("{}: reduces no output of the corpus", group.family).into()),
            None => Ok(corpus),
        }
    }

    /// `outputs` by the family that reduces them; those that none reduces are left out.
    pub(crate) fn of(outputs: Vec<Recorded>, reducer: &Reducer<'_>) -> Self {
        let group = |family| Group {
            family,
            outputs: Vec::new(),
        };
        let mut groups: Vec<Group> = family_names().map(group).collect();
        for recorded in outputs {
            let family = reducer(&recorded.as_case(KNOWN_BYTES)).and_then(|reduced| reduced.family);
            let group = groups.iter_mut().find(|group| Some(group.family) == family);
            if let Some(group) = group {
                group.outputs.push(recorded);
            }
        }
        Self(groups)
    }

    /// The groups, one a family, in the order of the families.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.0
    }

    /// Any recorded output, each family as often as another.
    pub(crate) fn any(&self, random: &mut Random) -> Option<&Recorded> {
        let group = random.one(&self.0)?;
        random.one(&group.outputs)
    }
}

impl Group {
    /// All recorded outputs of the family.
    pub(crate) fn outputs(&self) -> &[Recorded] {
        &self.outputs
    }

    /// Any recorded output of the family.
    pub(crate) fn any(&self, random: &mut Random) -> Option<&Recorded> {
        random.one(&self.outputs)
    }
}
