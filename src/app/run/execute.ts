import { join } from 'node:path';
import { imageLibrary } from '../../artifacts/formats/image-library.ts';
import type { SettledRows } from '../../manifest/settled-rows.ts';
import { type WrittenManifest, writeRunManifest } from '../../manifest/write.ts';
import { isTextKind } from '../../pipeline/kinds.ts';
import type { Selection } from '../../plan/cell.ts';
import { chosenSteps } from '../../plan/graph/step-selection.ts';
import type { Plan } from '../../plan/plan.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { jobCommands } from '../../report/text/next-commands.ts';
import type { Clock } from '../../run/clock.ts';
import type { RunListener } from '../../run/events.ts';
import { learnedFact } from '../../run/limits/learned.ts';
import { readService } from '../../run/limits/learned-limits.ts';
import type { RunControl, RunReport } from '../../run/ports.ts';
import type { DiskPort } from '../../run/resources/disk-space.ts';
import { runPlan } from '../../run/run.ts';
import { planForRun } from '../../run/run-plan.ts';
import { KnownEndpoints } from '../../service/failures/known-endpoints.ts';
import type { TextService } from '../../service/text-service.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Redactor } from '../output/redact.ts';
import { addressId } from '../service/clients.ts';
import { followedAt } from '../service/downloads.ts';
import { asksModels, modelsOf, unlistedModels } from '../service/models.ts';
import { openOutside } from '../service/outside.ts';
import { partToWork } from '../workspace/selection.ts';
import { continueWithout, findingsText, findMissing, findTasks, takingOn } from './doubt/find-tasks.ts';
import { type RunLog, tracedText } from './log.ts';
import type { RunSession } from './session.ts';
import type { CheckedRun } from './stages.ts';

/**
 * Runs the plan of a session against its service.
 *
 * @param settled collects the rows of finished cells as they are admitted; undefined: the manifest makes all rows at the end
 * @param watch.say shows the user a line
 * @throws ImageLibraryError before anything is sent
 */
export async function execute(
  { read, service, flags, interrupts: control, disposables, context: { io }, repairs }: CheckedRun,
  session: RunSession,
  settled: SettledRows | undefined,
  watch: {
    readonly listener: RunListener;
    readonly log: RunLog;
    readonly say: (text: string) => void;
    readonly disk: DiskPort;
  },
): Promise<RunReport> {
  const { plan, state, directory, baseUrl, settings } = session;
  const selection = partToWork(session.selection, repairs);
  const { clock } = io.machine;
  const { pipeline } = plan;
  const isRehearsal = service.baseUrl === undefined;
  if (drawsImages(plan, selection, isRehearsal)) imageLibrary();
  // A sandbox has another port each time.
  const id = isRehearsal ? '' : addressId(baseUrl, service);
  const kept = settings.relearn === true ? undefined : state.fact(learnedFact('service'));
  const { hasAnswered: answeredBefore, showsButtons } = readService(isRehearsal ? undefined : kept, id);
  const endpoints = new KnownEndpoints({ answeredBefore, showsButtons });
  const outside = openOutside(
    { pipeline, service, baseUrl, endpoints, store: session.artifacts, filesRoot: read.files.root },
    {
      keyForm: (words) => {
        watch.log.warn({ words }, 'service:key-form');
        watch.say(`Warning: ${words}`);
      },
      notice: (message) => watch.listener({ type: 'run:notice', code: 'download.own-link', message }),
    },
    io,
    disposables,
  );
  const { images, inputs, memory, text: asked, mask } = outside;
  if (session.missing !== undefined) {
    const { missing } = session;
    watch.say(
      flags['accept-older-state']
        ? await continueWithout(state, missing)
        : await findMissing(state, directory, missing, pipeline.service.tag ? images : {}, control.drain),
    );
  }
  if (flags['in-doubt'] === 'find') {
    const found = await findTasks(state, images, pipeline.prices, () => clock.now(), control.drain);
    if (found.doubtful > 0) watch.say(findingsText(found));
  }
  const { trace } = watch.log;
  const text = trace === undefined ? asked : tracedText(asked, trace, mask);
  const artifacts = outside.writerFor(state);
  // A sandbox accepts every model, so its list says nothing.
  const listener =
    !isRehearsal && asksModels(plan, selection)
      ? onceAtWork(watch.listener, () => checkModelsBeside(plan, selection, asked, watch, disposables))
      : watch.listener;
  const whole = planForRun(plan, selection);
  const run = runPlan(
    { ...whole, ...(settled && { resolve: settled.resolve }) },
    selection,
    settings,
    {
      store: {
        ...state,
        commit: (turn) => {
          settled?.note(turn.records);
          return state.commitSoon(turn);
        },
      },
      service: await takingOn(images, state.reader),
      address: { id, endpoints },
      text,
      inputs,
      artifacts: isRehearsal ? followedAt(baseUrl, artifacts) : artifacts,
      ...(session.remote && { results: session.remote.results(pipeline.retry.patienceMs) }),
      clock,
      random: Math.random,
      memory,
      disk: watch.disk,
    },
    control,
    listener,
  );
  // The disk space that is reserved for answers is now needed for the manifest.
  return await run.finally(() => state.releaseRoom());
}

/**
 * Asks the service for its models while the run is on, and warns of used models that are not listed. Never delays the run: the request is
 * aborted when the run ends, and if it fails the log says so.
 */
function checkModelsBeside(
  plan: Plan,
  selection: Selection,
  text: Pick<TextService, 'models'>,
  watch: { readonly log: RunLog; readonly say: (text: string) => void },
  disposables: Disposables,
): void {
  const over = new AbortController();
  const { log, say } = watch;
  const check = async (): Promise<void> => {
    const listed = await text.models(over.signal);
    if (over.signal.aborted) return;
    if (!listed.ok) {
      const { code, message } = listed.error;
      log.warn({ code, reason: message }, 'models:unknown');
      return;
    }
    const warnings = unlistedModels(await modelsOf(plan, selection), listed.value);
    if (over.signal.aborted) return;
    for (const warning of warnings) {
      log.warn({ code: 'model.unlisted', warning }, 'models:unlisted');
      say(`Warning: ${warning}`);
    }
  };
  const checked = check().catch((error: unknown) => {
    // A bug in this check is logged and does not stop the run.
    if (!over.signal.aborted) log.warn({ error: String(error) }, 'models:unknown');
  });
  disposables.add(async () => {
    over.abort();
    await checked;
  });
}

/** Whether a run must cut, draw or read images: the image library must work before anything is paid. */
function drawsImages(
  plan: RunSession['plan'],
  { only }: RunSession['selection'],
  isRehearsal: boolean,
): boolean {
  const chosen = chosenSteps(plan, only);
  return plan.pipeline.steps.some(
    ({ name, kind, split, request, path }) =>
      (!chosen.ok || chosen.value.steps.has(name)) &&
      (split === true ||
        'mask' in request ||
        path.some(({ mask }) => mask !== undefined) ||
        (isRehearsal && (!isTextKind(kind) || 'images' in request))),
  );
}

/** Wraps a listener so that a function is called once, when the first job changes: a run with nothing to do contacts no service. */
export function onceAtWork(listener: RunListener, call: () => void): RunListener {
  let isAtWork = false;
  return (event) => {
    if (!isAtWork && event.type === 'job:status') {
      isAtWork = true;
      call();
    }
    listener(event);
  };
}

/** How long a user who ends a run waits for its manifest, ms. With millions of rows or slow templates it could take hours. */
const listGraceMs = 10_000;

/**
 * Writes results for as long as the user waits: to the end, unless a signal has come.
 *
 * @param place of the results, as a command names it
 * @param say prints what is left undone, and how to do it
 * @param list aborted by its signal at the end of the wait
 * @returns undefined if the wait ended first
 * @throws what `list` throws
 */
export async function listInTime<T>(
  { drain, leave }: RunControl,
  place: string,
  say: (text: string) => void,
  list: (signal: AbortSignal) => Promise<T>,
  clock: Clock,
): Promise<T | undefined> {
  if (leave.aborted) return undefined;
  const over = new AbortController();
  let cancel: (() => void) | undefined;
  const onDrain = (): void => {
    cancel = clock.at(clock.now() + listGraceMs, () => over.abort());
  };
  if (drain.aborted) onDrain();
  else drain.addEventListener('abort', onDrain, { once: true });
  try {
    return await list(AbortSignal.any([leave, over.signal]));
  } catch (error) {
    if (leave.aborted) return undefined;
    if (!over.signal.aborted) throw error;
    const { manifest } = jobCommands(place);
    say(
      `Writing manifest.csv takes longer than ${listGraceMs / 1000} s after a signal, and was given up. To write it:\n  ${manifest}\n`,
    );
    return undefined;
  } finally {
    cancel?.();
    drain.removeEventListener('abort', onDrain);
  }
}

/** Writes the manifest of a session. @throws the error of the file system, StateError, TableError, the signal's reason */
export async function listResults(
  {
    plan,
    selection,
    state,
    directory,
  }: Pick<RunSession, 'plan' | 'selection' | 'directory'> & {
    readonly state: { readonly reader: StateReader };
  },
  redactor: Redactor,
  signal: AbortSignal,
  options: { readonly escapeFormulas?: boolean; readonly settled?: SettledRows | undefined },
): Promise<WrittenManifest> {
  return await writeRunManifest({
    plan,
    selection,
    reader: state.reader,
    file: join(directory, runFiles.manifest),
    redact: redactor.applyToData,
    signal,
    ...options,
  });
}
