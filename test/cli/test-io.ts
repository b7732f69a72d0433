import type { InterruptName, Interrupts, Io, Terminal } from '../../src/app/output/io.ts';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import { program } from '../../src/cli/program.ts';
import { cli, isInstalled } from '../rig/cli.ts';
import { withStateHome } from '../rig/state-home.ts';

/** A process that a command runs in, and what it said there. */
export interface TestIo {
  readonly io: Io;
  readonly out: () => string;
  readonly err: () => string;
  /** Like Ctrl-C: the first drains, the second leaves. */
  readonly interrupt: (name?: InterruptName) => void;
  /** Lets every timer of `every` call once. */
  readonly tick: () => void;
  /** Which bounds the command has set to its process, in order. */
  readonly bounded: readonly string[];
}

export function testIo(options: {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is drawn there is said on standard error. */
  readonly terminal?: Omit<Terminal, 'draw'>;
  readonly now?: () => number;
  /** Default: the system does not tell. */
  readonly freeBytes?: (folder: string) => number | undefined;
  /** What somebody at a terminal answers, undefined for the end of the input; absent: nobody is there. */
  readonly answer?: (question: string) => string | undefined;
}): TestIo {
  const said = { out: '', err: '' };
  const timers = new Set<() => void>();
  const bounded: string[] = [];
  const drain = new AbortController();
  const leave = new AbortController();
  let first: InterruptName | undefined;
  const { answer } = options;
  const interrupts: Interrupts = {
    drain: drain.signal,
    leave: leave.signal,
    first: () => first,
    listen: () => {},
    stop: () => {},
  };
  const err = (text: string): void => {
    said.err += text;
  };
  const io: Io = {
    cwd: options.cwd,
    env: withStateHome(options.env),
    out: (text) => {
      said.out += text;
      return Promise.resolve();
    },
    data: (text) => io.out(text),
    outClosed: new AbortController().signal,
    err,
    ...(options.terminal === undefined ? {} : { terminal: { ...options.terminal, draw: err } }),
    ...(answer === undefined ? {} : { ask: (question) => Promise.resolve(answer(question)) }),
    colors: false,
    now: options.now ?? Date.now,
    machine: {
      clock: wallClock,
      timeOfDay: Date.now,
      pid: process.pid,
      memory: () => process.memoryUsage(),
    },
    freeBytes: options.freeBytes ?? (() => undefined),
    every: (_ms, call) => {
      timers.add(call);
      return () => timers.delete(call);
    },
    interrupts: () => interrupts,
    // Flags of V8 would hold for all tests that this process goes on to carry out, and slow them down.
    boundHeapGrowth: () => void bounded.push('heap'),
    boundCompiler: () => void bounded.push('compiler'),
  };
  return {
    io,
    out: () => said.out,
    err: () => said.err,
    interrupt: (name = 'SIGINT') => {
      if (first === undefined) drain.abort();
      else leave.abort();
      first ??= name;
    },
    tick: () => {
      for (const call of timers) call();
    },
    bounded,
  };
}

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Carries out a command line in this process; where the command is an installed one, as a process, if it needs no more than a place. */
export async function promptpress(
  args: readonly string[],
  options: Parameters<typeof testIo>[0],
): Promise<Said> {
  if (isInstalled && Object.keys(options).every((name) => name === 'cwd' || name === 'env')) {
    const { code, signal, stdout: out, stderr: err } = await cli(args, options);
    if (code === undefined) throw new Error(`The command was ended by ${signal}:\n${err}`);
    return { code, out, err };
  }
  const test = testIo(options);
  const code = await program(args, test.io);
  return { code, out: test.out(), err: test.err() };
}
