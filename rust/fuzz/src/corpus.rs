//! The recorded outputs, as their manifests list them, by the family that reduces them.

use std::fs;
use std::path::Path;

use ethos_registry_reduce::format_names;
use serde_json::Value;

use crate::oracle::Reducer;
use crate::random::Random;

/// The folders below `tests/corpus` that have a manifest.
const PARTS: [&str; 3] = ["given", "own", "fresh"];

/// Files of the project, and what would print them: the recorded outputs have none that is reduced.
const FILES: [(&str, &str); 3] = [
    ("Cargo.lock", "cat Cargo.lock"),
    ("rust/reduce/src/fit.rs", "cat src/fit.rs"),
    (
        "rust/reduce/formats/generic/samples/dis_tides.txt",
        "python -m dis tides.py",
    ),
];

/// The beginning by which the family of an output is known.
const KNOWN_BYTES: usize = 24_000;
/// Parts that may be enough for it.
const PART_BYTES: [usize; 2] = [2_500, 8_000];

/// A recorded output.
pub(crate) struct Recorded {
    pub(crate) file: String,
    pub(crate) command: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) bytes: Vec<u8>,
    /// The bytes of a part that its family still reduces.
    pub(crate) part_bytes: usize,
}

/// The recorded outputs of one family.
pub(crate) struct Group {
    pub(crate) family: &'static str,
    outputs: Vec<Recorded>,
}

/// All recorded outputs.
pub(crate) struct Corpus(Vec<Group>);

impl Corpus {
    /// Reads the manifests in `project`, the folder of the project; `reducer` shows the families.
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
                    part_bytes: 0,
                });
            }
        }
        for (file, command) in FILES {
            outputs.push(Recorded {
                file: file.to_owned(),
                command: command.to_owned(),
                exit_code: Some(0),
                bytes: fs::read(project.join(file))?,
                part_bytes: 0,
            });
        }
        let mut corpus = Self::of(outputs, reducer);
        // Some formats have outputs of their own beside them, and none in the corpus.
        corpus.0.retain(|group| !group.outputs.is_empty());
        Ok(corpus)
    }

    /// `outputs` by the family that reduces them; those that none reduces are left out.
    pub(crate) fn of(outputs: Vec<Recorded>, reducer: &Reducer<'_>) -> Self {
        let group = |family| Group {
            family,
            outputs: Vec::new(),
        };
        let mut groups: Vec<Group> = format_names().map(group).collect();
        for mut recorded in outputs {
            let family = |recorded: &Recorded, bytes| {
                reducer(&recorded.as_case(bytes)).and_then(|reduced| reduced.family)
            };
            let known = family(&recorded, KNOWN_BYTES);
            let group = groups.iter_mut().find(|group| Some(group.family) == known);
            if let Some(group) = group {
                let mut parts = PART_BYTES.into_iter();
                let part = parts.find(|bytes| family(&recorded, *bytes) == known);
                recorded.part_bytes = part.unwrap_or(KNOWN_BYTES);
                group.outputs.push(recorded);
            }
        }
        Self(groups)
    }

    /// The names of the formats that have outputs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|group| group.family)
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
