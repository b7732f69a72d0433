import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import { openEngineTarget } from '../../../app/workspace/open.ts';
import { outcomeFacts, readRunFacts } from '../../../report/facts/run.ts';
import { counted } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import { command } from '../../args/command.ts';
import { summaries } from '../../args/summaries.ts';

/** `promptpress stop FILE|ENGINE` */
export const stop = command(
  {
    name: 'stop',
    summary: summaries.stop,
    operands: 'FILE|ENGINE',
    about: `Stops a run on an engine, like Ctrl-C where it was started: workers take and submit nothing new, and settle what is in flight. The command does not wait for them; promptpress status shows which are still active. Nothing is lost, and the same promptpress run continues it.
The run is named as postgres://…#NAME, or by its pipeline where PROMPTPRESS_ENGINE names the engine. A run of one machine ends with Ctrl-C.`,
    examples: [
      { command: 'promptpress stop "postgres://press@db.example/press#foxes"', does: 'a run by its name' },
      {
        command: 'promptpress stop foxes.yaml',
        does: 'by its pipeline; the engine is in PROMPTPRESS_ENGINE',
      },
    ],
    flags: {},
  },
  { least: 1, most: 1 },
  async (_flags, [target = ''], context) =>
    await closingAfter(async (disposables) => {
      const { io } = context;
      const { engine, run, place, state } = await openEngineTarget('stop', target, context);
      disposables.add(() => state.close());
      const { pool } = engine;
      const [{ runStatus, stopRun, endRun }, { readWorkers }, { writeFact }] = await Promise.all([
        import('../../../engine/slices/runs.ts'),
        import('../../../engine/slices/workers.ts'),
        import('../../../engine/state/facts.ts'),
      ]);
      const say = (text: string): Promise<void> => io.out(`${shownLine(place.name)}: ${text}\n`);
      const status = await runStatus(pool, run);
      if (status?.state !== 'open') {
        await say(status?.state === 'stopping' ? 'it is being stopped already.' : 'it is not active.');
        return exitCodes.ok;
      }
      const { invocation } = status;
      const end = { kind: 'interrupted', forced: false } as const;
      await stopRun(pool, run, invocation, end);
      const workersStatus = await readWorkers(pool, run, undefined);
      const alive = workersStatus?.workers.filter((worker) => worker.alive).length ?? 0;
      if (workersStatus?.led !== true && alive === 0) {
        // No process is left that could record the end.
        await endRun(pool, run, invocation);
        const facts = await readRunFacts(state);
        const outcome = outcomeFacts({ finishedAt: io.now(), end, exitCode: exitCodes.SIGINT });
        if (facts !== undefined && facts.outcome === undefined)
          await writeFact(pool, run, 'run.last', JSON.stringify({ ...facts, outcome }));
        await say('stopped; no worker was active.');
        return exitCodes.ok;
      }
      await say(
        `told to stop; ${alive === 0 ? 'no worker has anything in flight' : `${counted(alive, 'worker')} ${alive === 1 ? 'settles' : 'settle'} what is in flight`}. To follow it:\n  promptpress status ${quoted(place.name)} --watch`,
      );
      return exitCodes.ok;
    }),
);
