import { serviceWords } from '../report/text/plan-text.ts';
import { finishedWork, type RepeatedRun, repeatLast } from './run/finished.ts';
import { type LockedDirectory, lockDirectory, openRunSession, type RunSession } from './run/session.ts';
import { runSettings } from './run/settings.ts';
import type { CheckedRun, Runner } from './run/stages.ts';
import { workOff } from './run/work-off.ts';
import { reachService, rehearsalSettings } from './service/sandbox.ts';

/** Runs a pipeline in this process alone, in a directory that it locks. */
export const localRunner: Runner<LockedDirectory, RunSession | RepeatedRun> = {
  lock: lockDirectory,
  plan: planHere,
  orders: (_, { state }) => Promise.resolve(state.redos),
  taker: (_, planned) => Promise.resolve(planned.known === undefined ? planned : undefined),
  work: async (run, planned, metrics) =>
    planned.known === undefined ? await workOff(run, planned, metrics) : finishedWork(run, planned, metrics),
};

/** Plans a run; reads no table if the last run left nothing to do. */
async function planHere(run: CheckedRun, locked: LockedDirectory): Promise<RunSession | RepeatedRun> {
  const { read, service, flags, disposables } = run;
  const begun = (await repeatLast(run, locked)) ?? (await openRunSession(run, locked));
  const settings = await runSettings(read.pipeline, flags, service.speed, begun.state.reader);
  const baseUrl = await reachService(service, begun, rehearsalSettings(flags), disposables);
  const { origin } = new URL(baseUrl);
  const reached = service.baseUrl === undefined ? [] : [`Service: ${serviceWords(service.id, origin)}`];
  return { ...begun, settings, baseUrl, origin, reached };
}
