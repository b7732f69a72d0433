import { readFileSync, readlinkSync } from 'node:fs';
import { platform } from 'node:os';

/** Who holds a run directory. */
export interface LockOwner {
  readonly pid: number;
  /** Host name: the pid has no meaning on other hosts. */
  readonly host: string;
  /** Start time in ISO 8601, UTC. */
  readonly startedAt: string;
  readonly command?: string;
  /** Boot of the owner's system. Absent: unknown. */
  readonly bootId?: string;
  /** The pid's namespace (each container has its own). Absent: unknown. */
  readonly pidNamespace?: string;
  /** Start of the owner's process, in clock ticks since that boot. Absent: unknown. */
  readonly processStart?: string;
}

/** The system's facts about processes; tests replace it. */
export interface ProcessProbe {
  /** Returns the id of this boot of this machine; undefined if the system has none. */
  bootId(): string | undefined;
  /** Returns the pid namespace of this process, unique within the boot; undefined if the system has none. */
  pidNamespace(): string | undefined;
  /** Returns the start of a process, in clock ticks since the boot; undefined if it has ended, or cannot be seen. */
  startOf(pid: number): string | undefined;
}

/** The facts of Linux (proc_sys_kernel(5), proc_pid_stat(5)); other systems report nothing. */
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

/** Adds what the system reports of its process to an owner on this machine. */
export function identified(owner: LockOwner, processes: ProcessProbe): LockOwner {
  const bootId = processes.bootId();
  const processStart = processes.startOf(owner.pid);
  const pidNamespace = processes.pidNamespace();
  return bootId === undefined || processStart === undefined
    ? owner
    : { ...owner, bootId, processStart, ...(pidNamespace === undefined ? {} : { pidNamespace }) };
}

/**
 * Whether the process that left a name still runs: the same boot, pid namespace, pid and start. A pid alone proves nothing, because
 * another process may have it by now; in a container every start has the same one. For an owner on another machine or in another
 * container, or of unknown start, only the locks count.
 */
export function isAlive(owner: LockOwner, processes: ProcessProbe): boolean {
  const { pid, bootId, processStart } = owner;
  if (bootId === undefined || processStart === undefined || isUnseen(owner, processes)) return false;
  return bootId === processes.bootId() && processStart === processes.startOf(pid);
}

/** Whether an owner is in another container of this machine, whose processes are not visible here. */
export const isUnseen = ({ bootId, pidNamespace }: LockOwner, processes: ProcessProbe): boolean =>
  bootId !== undefined &&
  bootId === processes.bootId() &&
  pidNamespace !== undefined &&
  pidNamespace !== processes.pidNamespace();

/** Whether two names belong to one process. */
export const isSameProcess = (one: LockOwner, other: LockOwner): boolean =>
  one.pid === other.pid &&
  one.bootId === other.bootId &&
  one.pidNamespace === other.pidNamespace &&
  one.processStart === other.processStart;
