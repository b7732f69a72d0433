import { noteLateFacts } from '../../../engine/slices/late-facts.ts';
import { liveSessions } from '../../../engine/slices/session.ts';
import { countSubmissions } from '../../../engine/state/facts.ts';
import { passForgotten } from '../../../engine/state/slices.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import type { Clock } from '../../../run/clock.ts';
import { createImageService } from '../../../service/client.ts';
import type { ImageService } from '../../../service/image-service.ts';
import type { LateFact } from '../../../state/store.ts';
import { closingAfter, type Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { continueWithout, findingsText, findMissing, searchTasks } from '../../run/doubt/find-tasks.ts';
import type { CheckedRun } from '../../run/stages.ts';
import { connectingTo, serviceOptions } from '../../service/clients.ts';
import type { MissingWork } from '../../workspace/checks/stale-state.ts';
import type { RegisteredRun } from './begin.ts';
import type { ReachedService } from './lock.ts';

/** Number of found tasks that are recorded in one call. */
const atOnce = 256;

/**
 * Searches the tasks of jobs in doubt (`--in-doubt find`) and records each found task as a late answer to its submission, so that a worker
 * that takes the job continues that task.
 *
 * @returns a message for the user; undefined where no job is in doubt
 * @throws EngineError
 */
export async function findOnEngine(
  { plan: { pipeline }, engine: { pool }, run, state, service }: RegisteredRun,
  { interrupts: { drain }, context: { io } }: CheckedRun,
): Promise<string | undefined> {
  return await closingAfter(async (disposables) => {
    const images = imagesFor(service, pipeline, disposables, io);
    const facts: LateFact[] = [];
    const isAtWork = (await liveSessions(pool, run)) > 0;
    const found = await searchTasks(state.reader, images, drain, isAtWork, async (record, task) => {
      const { key, submittedAt, submittedBy } = record;
      if (submittedAt === undefined || submittedBy === undefined) return;
      facts.push({ key, submittedAt, submittedBy, taskId: task.id });
      if (facts.length >= atOnce) await noteLateFacts(pool, run, facts.splice(0));
    });
    await noteLateFacts(pool, run, facts);
    return found.doubtful === 0 ? undefined : findingsText(found);
  });
}

/**
 * Continues a run whose engine state is older than its results, with the tasks that the gateway lists or without them.
 *
 * @param missing work that the state does not know
 * @returns a message for the user
 * @throws StateError `state.old` where the service does not list its tasks; EngineError
 */
export async function continueOlder(
  { plan: { pipeline }, engine: { pool }, run, state, directory, service }: RegisteredRun,
  missing: MissingWork,
  { flags, interrupts: { drain }, context: { io } }: CheckedRun,
): Promise<string> {
  const older = {
    reader: state.reader,
    setFact: (name: string, value: string) => state.setFact(name, value),
    acceptMissing: async () => {
      await passForgotten(pool, run);
      await countSubmissions(pool, run, missing.submits);
    },
  };
  if (flags['accept-older-state']) return await continueWithout(older, missing);
  return await closingAfter(async (disposables) => {
    const images = imagesFor(service, pipeline, disposables, io);
    return await findMissing(older, directory, missing, pipeline.service.tag ? images : {}, drain);
  });
}

/**
 * Searches again whenever more jobs are in doubt than at the last search. Gateways list only their newest tasks, and those of a dead worker
 * are seconds old when its slice is taken over.
 *
 * @param inDoubt returns the number of jobs in doubt
 * @returns a function that ends the watch after the current search
 */
export function watchUnconfirmed(
  inDoubt: () => Promise<number>,
  search: () => Promise<unknown>,
  clock: Pick<Clock, 'now' | 'at'>,
  everyMs: number,
): () => Promise<void> {
  let known: number | undefined;
  let cancel: (() => void) | undefined;
  let looking: Promise<void> | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const now = await inDoubt();
    if (known !== undefined && now > known) await search();
    known = now;
  };
  const next = (): void => {
    if (isOver) return;
    cancel = clock.at(clock.now() + everyMs, () => {
      // If the engine cannot be reached now, the next look tries again, and the run reports it.
      looking = look()
        .catch(() => undefined)
        .finally(next);
    });
  };
  looking = look()
    .catch(() => undefined)
    .finally(next);
  return async () => {
    isOver = true;
    cancel?.();
    await looking;
  };
}

/** Opens a client that lists the tasks of the gateway. `disposables` closes it. */
function imagesFor(
  service: ReachedService,
  pipeline: Pipeline,
  disposables: Disposables,
  { env }: Context['io'],
): ImageService {
  const connecting = connectingTo(service, pipeline, env);
  const { requestMs } = pipeline.timeouts;
  const options = serviceOptions(service.baseUrl, service, requestMs, connecting, disposables);
  const images = createImageService({ ...options, clicks: service.clicks });
  disposables.add(() => images.close());
  return images;
}
