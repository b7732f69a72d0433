import { readFileSync, readlinkSync } from 'node:fs';
import { platform } from 'node:os';

/** Who holds a run directory. */
export interface LockOwner {
  readonly pid: number;
  /** Host name: the pid means nothing elsewhere. */
  readonly host: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly command?: string;
  /** Names the boot of the owner's system. Absent: unknown. */
  readonly bootId?: string;
  /** Names the pid namespace (a container has its own) that the pid is of. Absent: unknown. */
  readonly pidNamespace?: string;
  /** When the owner's process began, in clock ticks since that boot. Absent: unknown. */
  readonly processStart?: string;
}

/** What the system reports of processes; a test replaces it. */
export interface ProcessProbe {
  /** Differs from boot to boot, and from machine to machine; undefined where the system has none. */
  bootId(): string | undefined;
  /** Names the pid namespace of this process, unlike all others of the boot; undefined where the system has none. */
  pidNamespace(): string | undefined;
  /** When a process began, in clock ticks since the boot; undefined where it is not there, has ended, or cannot be seen. */
  startOf(pid: number): string | undefined;
}

/** Linux's own (proc_sys_kernel(5), proc_pid_stat(5)); other systems report nothing. */
export const systemProcesses: ProcessProbe = {
  bootId: () => textOf('/proc/sys/kernel/random/boot_id')?.trim(),
  pidNamespace: () => {
    try {
      return platform() === 'linux' ? readlinkSync('/proc/self/ns/pid') : undefined;
    } catch {
      // A system without /proc: unknown.
      return undefined;
    }
  },
  startOf: (pid) => {
    const stat = textOf(`/proc/${pid}/stat`);
    // The name in parentheses may hold anything. After it: field 3, the state, and field 22, the start.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isOver = fields?.[0] === 'Z' || fields?.[0] === 'X';
    return isOver ? undefined : fields?.[19];
  },
};

function textOf(file: string): string | undefined {
  if (platform() !== 'linux') return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // No such process, or a system without /proc: unknown.
    return undefined;
  }
}

/** An owner with what the system reports of its process, which must be on this machine. */
export function identified(owner: LockOwner, processes: ProcessProbe): LockOwner {
  const bootId = processes.bootId();
  const processStart = processes.startOf(owner.pid);
  const pidNamespace = processes.pidNamespace();
  return bootId === undefined || processStart === undefined
    ? owner
    : { ...owner, bootId, processStart, ...(pidNamespace === undefined ? {} : { pidNamespace }) };
}

/**
 * True where the very process that a name was left by is still there: the same boot, pid namespace, pid and start. A pid alone means
 * nothing, as another process may have it by now; in a container every start has the same one. Of an owner on another
 * machine or in another container, or whose start is unknown, nothing can be said: then only the locks count.
 */
export function isAlive(owner: LockOwner, processes: ProcessProbe): boolean {
  const { pid, bootId, processStart } = owner;
  if (bootId === undefined || processStart === undefined || isUnseen(owner, processes)) return false;
  return bootId === processes.bootId() && processStart === processes.startOf(pid);
}

/** True of an owner in another container of this machine: its processes are not seen from here. */
export const isUnseen = ({ bootId, pidNamespace }: LockOwner, processes: ProcessProbe): boolean =>
  bootId !== undefined &&
  bootId === processes.bootId() &&
  pidNamespace !== undefined &&
  pidNamespace !== processes.pidNamespace();

/** True where two names are one process's. */
export const isSameProcess = (one: LockOwner, other: LockOwner): boolean =>
  one.pid === other.pid &&
  one.bootId === other.bootId &&
  one.pidNamespace === other.pidNamespace &&
  one.processStart === other.processStart;
