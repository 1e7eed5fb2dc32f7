//! The rules for a process that restricts itself before it executes another program: Landlock for
//! files, seccomp for sockets and for system calls that bypass Landlock.
//!
//! The restrictions apply to the process and all that it starts, and cannot be lifted. They are for
//! a process with one thread, between `fork` and `exec`, and are prepared here before the `fork`, in
//! another process: a few system calls are left. Landlock does not cover metadata: `stat`, `chmod`,
//! `chown` and `utime` outside the permitted folders still succeed.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// The oldest Landlock version with all the rules: files, renames, truncation and TCP.
const NEEDED: ABI = ABI::V4;

/// Whether this kernel and processor can confine a program.
///
/// # Errors
/// What is missing.
pub fn probe() -> Result<(), String> {
    ruleset(false).map(drop)?;
    filter(World::Host).map(drop)
}

/// Prepare the confinement of another process; this one stays as it is.
///
/// `read` may be read and executed, `write` written too; without `network` no socket can be created.
/// Returns the descriptor of the Landlock rules, which is closed when a program is executed, and the
/// seccomp filter as the kernel reads it. The process enters them by system calls alone: `prctl` with
/// `PR_SET_NO_NEW_PRIVS`, `landlock_add_rule` for its own `/proc/self`, `landlock_restrict_self`, to
/// give up its capabilities, and `prctl` with `PR_SET_SECCOMP`.
///
/// # Errors
/// What is missing; the program must not be started.
pub fn prepare(
    read: &[PathBuf],
    write: &[PathBuf],
    network: bool,
) -> Result<(OwnedFd, Vec<u8>), String> {
    let world = if network {
        World::HostWithNetwork
    } else {
        World::Host
    };
    let filter = encoded(&filter(world)?);
    let readable = AccessFs::from_read(ABI::V5);
    let writable = AccessFs::from_all(ABI::V5);
    let rules = ruleset(network)?
        .set_compatibility(CompatLevel::BestEffort)
        .add_rules(path_beneath_rules(read, readable))
        .and_then(|rules| rules.add_rules(path_beneath_rules(write, writable)))
        .map_err(|error| format!("Landlock: {error}"))?;
    Ok((descriptor(rules)?, filter))
}

/// Prepare rules for sockets alone, for a command in namespaces that has the network of the host: it
/// reaches its own abstract names, and none of the host.
///
/// # Errors
/// This kernel cannot do it; Linux 6.12 can.
pub fn prepare_socket_scope() -> Result<OwnedFd, String> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket)
        .and_then(Ruleset::create)
        .map_err(|error| format!("Landlock: {error}"))
        .and_then(descriptor)
}

fn descriptor(rules: RulesetCreated) -> Result<OwnedFd, String> {
    Option::from(rules).ok_or_else(|| "this kernel has no Landlock".to_owned())
}

fn ruleset(network: bool) -> Result<RulesetCreated, String> {
    let missing = |error: landlock::RulesetError| {
        format!("this kernel has no Landlock, or a version that is too old: {error}")
    };
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .map_err(missing)?;
    if !network {
        rules = rules
            .handle_access(AccessNet::from_all(NEEDED))
            .map_err(missing)?;
    }
    rules
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))
        .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .map_err(missing)
}

/// System calls that bypass path rules, or that no confined program needs.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_chroot,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_process_madvise,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Its modes cannot be examined; programs fall back to `openat`.
    libc::SYS_openat2,
];

/// Memory, queues and semaphores that processes of the same user share without a path; a command
/// with namespaces has its own.
const SHARED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// System calls that change a process, with the argument that is not zero for another one.
const REFUSED_FOR_OTHERS: &[(libc::c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
];

/// System calls with an argument whose bits under a mask must not have a value.
const REFUSED_VALUES: &[(libc::c_long, u8, u64, u64)] = &[
    // Input to the terminal that somebody sits at.
    (libc::SYS_ioctl, 1, 0xffff_ffff, 0x5412),
    (libc::SYS_ioctl, 1, 0xffff_ffff, 0x541c),
    // Modes: set-user-ID, set-group-ID.
    (libc::SYS_fchmod, 1, 0o4000, 0o4000),
    (libc::SYS_fchmod, 1, 0o2000, 0o2000),
    (libc::SYS_fchmodat, 2, 0o4000, 0o4000),
    (libc::SYS_fchmodat, 2, 0o2000, 0o2000),
    (SYS_FCHMODAT2, 2, 0o4000, 0o4000),
    (SYS_FCHMODAT2, 2, 0o2000, 0o2000),
    (libc::SYS_openat, 3, 0o4000, 0o4000),
    (libc::SYS_openat, 3, 0o2000, 0o2000),
    (libc::SYS_mknodat, 2, 0o4000, 0o4000),
    (libc::SYS_mknodat, 2, 0o2000, 0o2000),
    // Devices.
    (libc::SYS_mknodat, 2, 0o170_000, 0o020_000),
    (libc::SYS_mknodat, 2, 0o170_000, 0o060_000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1, 0o4000, 0o4000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1, 0o2000, 0o2000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, 0o4000, 0o4000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2, 0o2000, 0o2000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, 0o4000, 0o4000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1, 0o2000, 0o2000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, 0o4000, 0o4000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, 0o2000, 0o2000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, 0o170_000, 0o020_000),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1, 0o170_000, 0o060_000),
    // Sockets of virtual machines, which no namespace separates.
    (libc::SYS_socket, 0, 0xffff_ffff, 40),
];

/// `fchmodat2`, Linux 6.6, on every processor.
const SYS_FCHMODAT2: libc::c_long = 452;

/// The bit that marks a call of the x32 interface, which would bypass rules by number.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Where a command runs, as far as the filter must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    /// In the host's, without sockets.
    Host,
    /// In the host's, with sockets.
    HostWithNetwork,
    /// In namespaces of its own, which separate sockets and shared memory.
    Own,
}

/// The instructions of the filter for a command that runs in namespaces of its own.
///
/// # Errors
/// This processor has no filter.
pub fn namespace_filter() -> Result<Vec<u8>, String> {
    filter(World::Own).map(|filter| encoded(&filter))
}

fn encoded(filter: &BpfProgram) -> Vec<u8> {
    filter
        .iter()
        .flat_map(|one| {
            let [first, second] = one.code.to_ne_bytes();
            let [a, b, c, d] = one.k.to_ne_bytes();
            [first, second, one.jt, one.jf, a, b, c, d]
        })
        .collect()
}

fn filter(world: World) -> Result<BpfProgram, String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| failed(&error))?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut refuse = |number: i64, argument: u8, operation: SeccompCmpOp, value: u64| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operation, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map_err(|error| failed(&error))?;
        rules.entry(number).or_default().push(condition);
        Ok::<(), String>(())
    };
    for &(number, argument, mask, value) in REFUSED_VALUES {
        refuse(number, argument, SeccompCmpOp::MaskedEq(mask), value)?;
    }
    for &(number, argument) in REFUSED_FOR_OTHERS {
        if world != World::Own {
            refuse(number, argument, SeccompCmpOp::Ne, 0)?;
        }
    }
    let mut numbers = REFUSED.to_vec();
    if world != World::Own {
        numbers.extend(SHARED);
    }
    if world == World::Host {
        // Unix sockets too: by path they reach daemons that run commands, such as Docker's.
        numbers.push(libc::SYS_socket);
    }
    if world == World::HostWithNetwork {
        // Landlock has no rule for the path of a socket.
        let unix = u64::try_from(libc::AF_UNIX).unwrap_or(1);
        refuse(libc::SYS_socket, 0, SeccompCmpOp::Eq, unix)?;
    }
    for number in numbers {
        rules.insert(number, Vec::new());
    }
    #[cfg(target_arch = "x86_64")]
    for number in rules.keys().copied().collect::<Vec<_>>() {
        rules.insert(number | X32, Vec::new());
    }
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)
        .and_then(BpfProgram::try_from)
        .map_err(|error| failed(&error))
}
