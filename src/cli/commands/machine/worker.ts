import { join, resolve } from 'node:path';
import { closingAfter, Disposables } from '../../../app/adapters/disposables.ts';
import type { Context } from '../../../app/context.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import { type LogLevel, logLevels } from '../../../app/flags.ts';
import { openRunLog, type RunLog } from '../../../app/run/log.ts';
import { type OpenEngine, openEngine } from '../../../app/service/engine/connect.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { StateError } from '../../../state/store.ts';
import { command } from '../../args/command.ts';
import { repeated, toggle, valued } from '../../args/flags.ts';
import { placeFlags, queueFlag, workingFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { anyText, oneOf } from '../../args/values.ts';

/** Connections of a worker for all its runs; the queue has another one. */
const connections = 2;

/** `promptpress worker` */
export const worker = command(
  {
    name: 'worker',
    summary: summaries.worker,
    operands: '',
    about: `Works on the runs of an engine (promptpress run FILE --engine …): takes slices of any open run until the run ends, then of the next one. It needs the address of the engine and the key of the service (PROMPTPRESS_API_KEY), but no table, no pipeline file, and no image or mask; if it has copies of images and masks, it reads those (--files-root). Everything else, such as limits and the queue, comes with the run.
Start as many as are wanted, on any machines; stop and kill them at any time. Ctrl-C or SIGTERM once: it settles what is in flight, gives back what it holds, and ends (exit 0); the runs go on elsewhere. Twice: it leaves at once (130, 143), and what it held falls to others once its lease is over.
A run that this machine cannot carry out is not started, and it says why once: another release, another service, a key that is missing or may not be sent there.`,
    examples: [
      {
        command: 'promptpress worker --engine postgres://press@db.example/press?sslmode=verify-full',
        does: 'work on all open runs until it is stopped',
      },
      {
        command: 'promptpress worker --once',
        does: 'until nothing is left; the engine is in PROMPTPRESS_ENGINE',
      },
      { command: 'promptpress worker --slots 20', does: 'with twenty image tasks in flight at most' },
    ],
    flags: {
      ...workingFlags,
      ...queueFlag(
        'redis://USER:PASSWORD@HOST:PORT of the server where runs keep their queue on Redis; no other server is used',
      ),
      name: valued('NAME', 'name of this worker in status; default: the machine and the process', anyText),
      'files-root': placeFlags['files-root'],
      out: repeated(
        'DIR',
        'folder of a run’s results on this machine, if its path is not the coordinator’s; its engine.json names the run',
        anyText,
      ),
      once: toggle('end once nothing is left to do'),
      'log-level': valued(
        'LEVEL',
        `keep a log of this worker in worker-NAME.log of the current folder, like run.log of a run: ${logLevels.join(', ')}; default: none`,
        oneOf(...logLevels),
      ),
    },
  },
  { least: 0, most: 0 },
  async (flags, _operands, context) => {
    context.io.boundCompiler();
    const [{ WorkerLoop }, { namedQueue }, { defaultLeaseMs, workerName }] = await Promise.all([
      import('../../../app/engine/worker/supervise.ts'),
      import('../../../app/engine/queue.ts'),
      import('../../../app/engine/worker/work.ts'),
    ]);
    const { io, redactor } = context;
    const queue = flags.queue === undefined ? undefined : namedQueue(flags.queue, redactor);
    return await closingAfter(async (disposables) => {
      // Until it has reached an engine, the worker holds nothing.
      const interrupts = io.interrupts('late');
      disposables.add(() => interrupts.stop());
      const name = workerName(flags.name, io.machine);
      const engine = await reached(flags, name, interrupts.drain, disposables, context);
      if (engine === undefined) return exitCodes.ok;
      interrupts.listen();
      const settings = {
        name,
        leaseMs: flags.lease ?? defaultLeaseMs,
        slots: flags.slots,
        'files-root': flags['files-root'],
        queue,
        folders: flags.out.map((folder) => resolve(io.cwd, folder)),
        once: flags.once,
      };
      const log = openLog(flags['log-level'], name, context);
      disposables.add(() => log?.close());
      const listener = log?.listener ?? (() => undefined);
      const loop = new WorkerLoop(engine, settings, interrupts, listener, disposables, context);
      await loop.run();
      const signal = interrupts.first();
      return interrupts.leave.aborted && signal !== undefined ? exitCodes[signal] : exitCodes.ok;
    });
  },
);

/** Opens the log; undefined if none is wanted. @throws StateError, the error of the file system */
function openLog(level: LogLevel | undefined, name: string, { io, redactor }: Context): RunLog | undefined {
  if (level === undefined) return undefined;
  const file = join(io.cwd, `worker-${name.replaceAll(/[^\w.-]/g, '_')}.log`);
  return openRunLog(file, level, redactor, io, (error) =>
    io.err(`The log can no longer be written: ${error.message}\n`),
  );
}

/** Milliseconds between two attempts to reach an engine. */
const againMs = 2000;

/** Errors that end by themselves: workers may be started before the first run and before their engine. */
const passing: readonly string[] = ['engine.empty', 'engine.away', 'engine.busy', 'engine.connections'];

/** Waits for the engine; undefined if the process ends, or if there is nothing to do with --once. */
async function reached(
  flags: { readonly engine: string | undefined; readonly once: boolean },
  name: string,
  drain: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<OpenEngine | undefined> {
  const { pause } = await import('../../../engine/slices/feeder.ts');
  const { io } = context;
  let said = '';
  while (!drain.aborted) {
    const opened = new Disposables();
    try {
      const engine = await openEngine(
        flags.engine,
        { as: 'worker', name: 'worker', connections },
        opened,
        context,
      );
      disposables.add(() => opened.end());
      return engine;
    } catch (error) {
      await opened.end();
      if (!(error instanceof StateError) || !passing.includes(error.code)) throw error;
      if (flags.once && error.code === 'engine.empty') {
        io.err(
          `${new Date(io.now()).toISOString()} ${name}: ${shownLine(error.message)} There is nothing to do.\n`,
        );
        return undefined;
      }
      if (flags.once && error.code !== 'engine.connections') throw error;
      const { message } = error;
      if (message !== said)
        io.err(`${new Date(io.now()).toISOString()} ${name}: ${shownLine(message)} Trying again.\n`);
      said = message;
    }
    await pause(io.machine.clock, againMs, drain);
  }
  return undefined;
}
