//! The recorded outputs, as their manifests list them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::random::Random;

/// The folders below `tests/corpus` that have a manifest.
const PARTS: [&str; 3] = ["given", "own", "fresh"];

/// A recorded output.
pub(crate) struct Recorded {
    pub(crate) file: String,
    pub(crate) command: String,
    pub(crate) exit_code: Option<i64>,
    pub(crate) bytes: Vec<u8>,
}

/// All recorded outputs, by the family of their manifest: each family is chosen as often as another.
pub(crate) struct Corpus(Vec<Vec<Recorded>>);

impl Corpus {
    pub(crate) fn read(folder: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let mut families: BTreeMap<String, Vec<Recorded>> = BTreeMap::new();
        for part in PARTS {
            let folder = folder.join(part);
            let manifest: Vec<Value> =
                serde_json::from_slice(&fs::read(folder.join("manifest.json"))?)?;
            for entry in manifest {
                let word = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
                let recorded = Recorded {
                    file: format!("{part}/{}", word("file")),
                    command: word("command").to_owned(),
                    exit_code: entry.get("exit_code").and_then(Value::as_i64),
                    bytes: fs::read(folder.join(word("file")))?,
                };
                families
                    .entry(word("family").to_owned())
                    .or_default()
                    .push(recorded);
            }
        }
        Ok(Self(families.into_values().collect()))
    }

    /// Any recorded output.
    pub(crate) fn any(&self, random: &mut Random) -> Option<&Recorded> {
        let family = random.one(&self.0)?;
        random.one(family)
    }
}
