import { closingAfter } from '../../../app/adapters/disposables.ts';
import { exitCodes } from '../../../app/errors/cli-error.ts';
import type { Io } from '../../../app/output/io.ts';
import { jsonLine } from '../../../app/output/json-line.ts';
import type { EngineRun } from '../../../app/service/engine/run.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { keptFailureRules, keptPipeline } from '../../../app/workspace/last-pipeline.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import type { WorkersStatus } from '../../../report/facts/json-outputs.generated.ts';
import type { RunPlace } from '../../../report/facts/place.ts';
import { commandsOf } from '../../../report/text/next-commands.ts';
import { type RunStatus, readStatus, statusText } from '../../../report/text/status/status.ts';
import { readStepCosts } from '../../../report/text/status/step-costs.ts';
import type { StateReader } from '../../../state/reader.ts';
import { command } from '../../args/command.ts';
import { toggle } from '../../args/flags.ts';
import { targetFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { watchStatus } from './watch.ts';

/** `promptpress status FILE|DIR` */
export const status = command(
  {
    name: 'status',
    summary: summaries.status,
    operands: '[FILE|DIR]',
    about: `Counts the jobs of a run directory by status, with the reasons of failures and the jobs in doubt. It works during the run and does not slow it down. With --watch it is updated every two seconds until the run ends: on a terminal in place, elsewhere as a line with the time whenever the counts have changed, on standard error. The last status goes to standard output; Ctrl-C ends it with exit code 130. Without FILE|DIR it takes the current folder if that is a run directory, else its pipeline.yaml.`,
    examples: [
      { command: 'promptpress status pipeline.yaml', does: 'a run by its pipeline' },
      { command: 'promptpress status pipeline.yaml --sandbox', does: 'its rehearsal' },
      { command: 'promptpress status pipeline.yaml --watch', does: 'until the run has ended' },
      { command: 'promptpress status runs/foxes --json', does: 'for a script or a monitor' },
    ],
    flags: {
      ...targetFlags,
      watch: toggle('show it again every two seconds, until the run ends or Ctrl-C'),
      json: toggle('print one JSON object (schemas/status.schema.json)'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) =>
    await closingAfter(async (disposables) => {
      const { io } = context;
      const target = targetOrDefault(given, 'status', io);
      const { directory, place, engine, state } = await openTarget(target, flags, context);
      disposables.add(() => state.close());
      const stepCosts = rarely(
        async () => await readStepCosts(state, (await place.owner()) !== undefined),
        () => io.now(),
      );
      const withWorkers = async (found: RunStatus): Promise<RunStatus> => {
        const workersStatus = engine && (await workersOf(engine, found.service));
        return workersStatus === undefined ? found : { ...found, engine: workersStatus };
      };
      const read = async (): Promise<RunStatus> =>
        await withWorkers(
          await readStatus(
            place,
            state,
            await keptFailureRules(directory, state, io),
            io,
            flags.watch ? await stepCosts() : undefined,
          ),
        );
      const textOf = (found: RunStatus): Promise<string> => forPeople(found, directory, place, state, io);
      const interrupted = flags.watch ? await watchStatus(read, textOf, context, disposables) : undefined;
      const found = await withWorkers(
        await readStatus(place, state, await keptFailureRules(directory, state, io), io),
      );
      if (flags.json) await io.data(jsonLine(found));
      else await io.out(await textOf(found));
      return interrupted === undefined ? exitCodes.ok : exitCodes[interrupted];
    }),
);

/** Reads the status of the workers of a run on an engine. */
async function workersOf(
  { engine, run }: EngineRun,
  service: string | undefined,
): Promise<WorkersStatus | undefined> {
  const { readWorkers } = await import('../../../engine/slices/workers.ts');
  return await readWorkers(engine.pool, run, service);
}

/** Repeats slow work only if it takes at most a twentieth of the time. */
function rarely<T>(work: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly result: T; readonly until: number } | undefined;
  return async () => {
    const begun = now();
    if (last !== undefined && begun < last.until) return last.result;
    const result = await work();
    const ended = now();
    last = { result, until: ended + 20 * (ended - begun) };
    return result;
  };
}

async function forPeople(
  found: RunStatus,
  directory: string,
  place: RunPlace,
  state: StateReader,
  io: Pick<Io, 'cwd' | 'env' | 'now'>,
): Promise<string> {
  const pipeline = found.doubts > 0 ? await keptPipeline(directory, state, io) : undefined;
  return statusText(found, io.now(), (await commandsOf(place, state, pipeline, io.cwd)).find);
}
