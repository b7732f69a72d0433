import { namesDirectory } from '../report/facts/layout.ts';
import { serviceWords } from '../report/text/plan-text.ts';
import { sumsOf } from '../results/sums.ts';
import { identityOf } from './fingerprint/fingerprint.ts';
import { finishedWork, openFinished, settledSteps } from './run/finished.ts';
import type { BegunWork, OpeningRun, Runner } from './run/runner.ts';
import { type HeldDirectory, holdDirectory, openRunSession, type RunOpening } from './run/session.ts';
import { runSettings } from './run/settings.ts';
import { workOff } from './run/work-off.ts';
import { s3PlaceOf } from './service/artifact-place.ts';
import { reachService, rehearsalSettings } from './service/sandbox.ts';
import { placeOfRun } from './workspace/checks/place.ts';
import { selectionOf } from './workspace/selection.ts';

/** Runs a pipeline in this process alone, in a directory that it locks. */
export const localRunner: Runner = {
  async hold(opening) {
    const { read, service, flags, interrupts, disposables, context } = opening;
    const readSince = context.io.machine.timeOfDay();
    const place = s3PlaceOf(flags.out);
    const run: RunOpening = {
      directory: placeOfRun(read.pipeline, flags, context.io.cwd),
      service: {
        id: service.id,
        ...(service.baseUrl === undefined ? {} : { origin: new URL(service.baseUrl).origin }),
      },
      newService: flags['new-service'],
      selection: selectionOf(flags),
      isDefault: !namesDirectory(flags),
      ...(place === undefined ? {} : { place }),
      frozen: flags.frozen,
      trusted: flags['trust-directory'],
      acceptsOlder: flags['accept-older-state'] || flags['in-doubt'] === 'find',
    };
    const held = await holdDirectory(read, run, interrupts.leave, disposables, context);
    const { state, startedAt } = held;
    return {
      startedAt,
      reader: state.reader,
      totals: (isOver) =>
        sumsOf(
          state.totals(),
          isOver ? state.unfinished().filter(({ status }) => status === 'submitting') : [],
        ),
      begin: () => begin(opening, run, held, readSince),
    };
  },
};

/** Begins a run; reads no table if the last run left nothing to do. @param readSince Unix ms: no file of the pipeline was read before */
async function begin(
  opening: OpeningRun,
  run: RunOpening,
  held: HeldDirectory,
  readSince: number,
): Promise<BegunWork> {
  const { read, service, flags, interrupts, output, disposables, context } = opening;
  const opened = (await openFinished(read, run, held, flags, context.redactor)) ?? {
    known: undefined,
    begun: await openRunSession(read, run, held, interrupts.drain, context),
  };
  const { begun } = opened;
  const { state } = begun;
  const settings = await runSettings(read.pipeline, flags, service.speed, state.reader);
  const baseUrl = await reachService(service, begun, rehearsalSettings(flags), disposables);
  const { origin } = new URL(baseUrl);
  return {
    run: begun,
    settings,
    origin,
    reached: service.baseUrl === undefined ? [] : [`Service: ${serviceWords(service.id, origin)}`],
    orders: () => Promise.resolve(state.redos),
    work: async (metrics) => {
      if (opened.known !== undefined) {
        metrics?.begin({ steps: settledSteps(begun, opened.known) });
        return finishedWork(begun, opened.known, readSince, flags, interrupts, context);
      }
      const onWork = (): void => {
        interrupts.listen();
        output.onWork();
      };
      const identity = identityOf(read, run);
      const work = { service, baseUrl, settings, identity, readSince, onWork, metrics };
      return await workOff(opened.begun, work, flags, interrupts, disposables, context);
    },
  };
}
