//! Programs that run a command elsewhere: in a container, on another machine, or once for many names.

use super::options::after_options;
use super::program;

/// How the words of such a program lead to the command that it runs.
struct RemoteRunner {
    names: &'static [&'static str],
    /// The word for it, after options of the program itself; none where the program does nothing else.
    verbs: &'static [&'static str],
    /// Options that take the next word, with blanks between.
    options_with_value: &'static str,
    /// How many words name where it runs.
    places: usize,
}

const CONTAINERS: [&str; 3] = ["docker", "podman", "nerdctl"];

const REMOTE_RUNNERS: [RemoteRunner; 8] = [
    RemoteRunner {
        names: &CONTAINERS,
        verbs: &["exec"],
        options_with_value: "-e --env --env-file -u --user -w --workdir -H --host -c --context",
        places: 1,
    },
    RemoteRunner {
        names: &CONTAINERS,
        verbs: &["run"],
        options_with_value: "-e --env --env-file -u --user -w --workdir -v --volume --mount -p --publish \
                             --name --network --net --platform -m --memory --cpus -h --hostname -l --label \
                             --add-host --shm-size --gpus --tmpfs --ulimit --device --cap-add --cap-drop \
                             --security-opt --entrypoint --pull --pid --ipc",
        places: 1,
    },
    RemoteRunner {
        names: &["compose", "docker-compose"],
        verbs: &["exec", "run"],
        options_with_value: "-f --file -p --project-name --profile --env-file --project-directory -e --env -u \
                             --user -w --workdir -v --volume --publish --name --entrypoint --index -l --label",
        places: 1,
    },
    RemoteRunner {
        names: &["kubectl", "oc"],
        verbs: &["exec"],
        options_with_value: "-n --namespace -c --container --context --kubeconfig",
        places: 1,
    },
    RemoteRunner {
        names: &["ssh"],
        verbs: &[],
        options_with_value: "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
        places: 1,
    },
    RemoteRunner {
        names: &["flock"],
        verbs: &[],
        options_with_value: "-w --timeout -E --conflict-exit-code",
        places: 1,
    },
    RemoteRunner {
        names: &["direnv"],
        verbs: &["exec"],
        options_with_value: "",
        places: 1,
    },
    RemoteRunner {
        names: &["xargs"],
        verbs: &[],
        options_with_value: "-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs \
                             -s --max-chars",
        places: 0,
    },
];

/// What `words` run elsewhere; a single word of them may be a line for a shell there.
pub(super) fn run_remotely(words: &[String]) -> Option<&[String]> {
    let name = program(words)?;
    let words = match after_options(words.get(1..)?, |_| false).split_first() {
        // A plugin of the program, with options of its own.
        Some((plugin, _)) if plugin == "compose" && CONTAINERS.contains(&name) => {
            after_options(words.get(1..)?, |_| false)
        }
        _ => words,
    };
    let name = program(words)?;
    let mut known = REMOTE_RUNNERS
        .iter()
        .filter(|known| known.names.contains(&name));
    known.find_map(|known| known.command(words))
}

impl RemoteRunner {
    fn command<'a>(&self, words: &'a [String]) -> Option<&'a [String]> {
        let takes_value = |option: &str| {
            let mut known = self.options_with_value.split(' ');
            known.any(|known| known == option)
        };
        let mut rest = after_options(words.get(1..)?, takes_value);
        if !self.verbs.is_empty() {
            let (verb, after) = rest.split_first()?;
            if !self.verbs.contains(&verb.as_str()) {
                return None;
            }
            rest = after_options(after, takes_value);
        }
        let rest = rest.get(self.places..)?;
        // After the place there may be options once more, up to two dashes.
        Some(after_options(rest, takes_value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::producer;

    #[test]
    fn what_runs_in_a_container_or_on_another_machine_is_the_command() {
        for (line, words) in [
            (
                "docker exec -it shop-db psql -U shop -c 'select 1'",
                "psql|-U|shop|-c|select 1",
            ),
            (
                "docker run --rm -v \"$PWD:/src\" -w /src oak:1 python -m pytest -q",
                "pytest|-q",
            ),
            (
                "docker compose -f dev.yaml exec -T web pytest -x",
                "pytest|-x",
            ),
            ("docker-compose run --rm -e CI=1 web npm test", "npm|test"),
            ("sudo podman exec oak ls -la /srv", "ls|-la|/srv"),
            (
                "kubectl -n shop exec oak-0 -c web -- git status",
                "git|status",
            ),
            (
                "kubectl exec deploy/oak -- sh -c 'cd /srv && ls -l'",
                "ls|-l",
            ),
            (
                "ssh -i key dev@oak 'cd app && git log | head -5'",
                "git|log",
            ),
            ("ssh oak df -h", "df|-h"),
            ("git ls-files | xargs -n 20 grep -n oak", "grep|-n|oak"),
            (
                "find . -print0 | xargs -0 -I{} sh -c 'wc -l {}'",
                "wc|-l|{}",
            ),
            ("flock /tmp/lock make all", "make|all"),
        ] {
            let found = producer(line).map(|words| words.join("|"));
            assert_eq!(found.as_deref(), Some(words), "{line}");
        }
    }

    #[test]
    fn a_program_that_runs_nothing_there_is_itself_the_command() {
        for (line, words) in [
            ("docker run -d oak:1", "docker|run|-d|oak:1"),
            ("docker compose up -d", "docker|compose|up|-d"),
            ("docker logs oak", "docker|logs|oak"),
            ("docker compose logs -f web", "docker|compose|logs|-f|web"),
            ("kubectl get pods -n shop", "kubectl|get|pods|-n|shop"),
            ("ssh oak", "ssh|oak"),
            ("find . | xargs", "xargs"),
        ] {
            let found = producer(line).map(|words| words.join("|"));
            assert_eq!(found.as_deref(), Some(words), "{line}");
        }
    }
}
