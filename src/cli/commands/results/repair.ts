import { join } from 'node:path';
import { writeManifest } from '../../../manifest/write.ts';
import type { JobRecord } from '../../../plan/job.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { sandboxId } from '../../../report/facts/services.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StateStore } from '../../../state/store.ts';
import type { Finding } from '../../../upkeep/finding.ts';
import { isRepairable } from '../../../upkeep/verify.ts';
import { withoutFiles, withoutFrames } from '../../../upkeep/without-files.ts';
import { closingAfter, type Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../args/command.ts';
import { exitCodes } from '../../errors/cli-error.ts';
import { openArtifactsOf } from '../../service/artifact-place.ts';
import { notifyVariable } from '../../service/notify.ts';
import { holdWords } from '../../terminal/held-words.ts';
import { holdState } from '../../workspace/checks/hold-state.ts';
import { checkAge } from '../../workspace/checks/stale-state.ts';
import { planOfDirectory } from '../../workspace/last-plan.ts';
import { run } from '../run.ts';

/** The flags of `verify` that go along to the run which downloads. */
export interface RepairFlags {
  readonly 'trust-directory': boolean;
  readonly 'base-url': string | undefined;
}

/**
 * Takes damaged files out of the state, and has a run download them that may submit nothing. A job that the pipeline does not have any
 * more is not downloaded: it gets its files back in the state, so that its fault stays known.
 *
 * @returns jobs that are still without their files, and are not done any more: their download failed
 */
export async function repair(
  { directory, faults }: { readonly directory: string; readonly faults: readonly Finding[] },
  flags: RepairFlags,
  leave: AbortSignal,
  context: Context,
): Promise<number> {
  const { io, redactor } = context;
  const mendable = faults.flatMap((fault) => ('isRepairable' in fault && fault.isRepairable ? [fault] : []));
  const keys = new Set(mendable.map(({ job }) => job));
  /** Jobs whose own files are damaged, and not frames alone. */
  const toDownload = new Set(mendable.filter(({ isFrame }) => !isFrame).map(({ job }) => job));
  const trust = { trusted: flags['trust-directory'] };
  const held = async <T>(work: (state: StateStore, disposables: Disposables) => T | Promise<T>): Promise<T> =>
    await closingAfter(async (disposables) => {
      const state = holdState(directory, 'promptpress verify --repair', trust, disposables, context);
      await checkAge(state.reader, directory, io.env);
      return await work(state, disposables);
    });
  const before = new Map<string, JobRecord>();
  /** It may be refused, by a link in the way for example: the jobs get their files back in the state all the same. */
  let ran: Promise<number> | undefined;
  if (keys.size > 0) {
    const args = await held(async (state) => {
      const download = await downloadArguments(directory, state.reader, flags, io.cwd);
      if (download === undefined) return undefined;
      for (const key of keys) {
        const record = state.get(key);
        if (record === undefined || !isRepairable(record)) continue;
        before.set(key, record);
        const rest = (toDownload.has(key) ? withoutFiles : withoutFrames)(record);
        state.commit({ records: [rest], attempts: [] });
      }
      return download;
    });
    if (args !== undefined) ran = runQuietly(args, context);
    await ran?.catch(() => undefined);
  }
  const failed = await held(async (state, disposables) => {
    let failed = 0;
    for (const [key, { artifacts, frames }] of before) {
      const record = state.get(key);
      if (record === undefined) continue;
      const lacksFiles = record.artifacts.length === 0;
      const lacksFrames = frames !== undefined && record.frames === undefined;
      if (!lacksFiles && !lacksFrames) continue;
      const known = { ...(lacksFiles && { artifacts }), ...(lacksFrames && { frames }) };
      if (record.status === 'done') state.commit({ records: [{ ...record, ...known }], attempts: [] });
      else if (lacksFiles) failed += 1;
    }
    const { plan, facts } = await planOfDirectory(directory, state.reader, context);
    const file = join(directory, runFiles.manifest);
    const { selection } = facts;
    await writeManifest({ plan, selection, reader: state.reader, redact: redactor.applyToData, file });
    const { remote } = await openArtifactsOf(directory, state.reader, leave, disposables, context);
    await remote?.publish(runFiles.manifest, file);
    return failed;
  });
  await ran;
  return failed;
}

/** Outcomes of a run that the files which it leaves do not explain: its words do. */
const unexplained: ReadonlySet<number> = new Set([exitCodes.stopped, exitCodes.internal, exitCodes.disk]);

/** A run of which nobody is told, and whose summary is not shown: what it did is said by what is found behind it. */
async function runQuietly(args: readonly string[], context: Context): Promise<number> {
  const words = holdWords(context.io);
  const io = {
    ...words.io,
    env: { ...context.io.env, [notifyVariable]: undefined },
    out: async () => undefined,
  };
  const code = await run.run(args, { ...context, io });
  if (unexplained.has(code)) words.speak();
  return code;
}

/** The last run once more, which only downloads. */
async function downloadArguments(
  directory: string,
  state: StateReader,
  flags: RepairFlags,
  cwd: string,
): Promise<readonly string[] | undefined> {
  const facts = await readRunFacts(state);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || path === undefined) return undefined;
  // The next manifest lists what the last run chose.
  const { limit, filters, shard, only } = facts.selection;
  return [
    seenFrom(cwd, path),
    '--out',
    seenFrom(cwd, directory),
    '--max-submits',
    '0',
    '--no-progress',
    ...(facts.serviceId === sandboxId ? ['--sandbox'] : []),
    ...(flags['trust-directory'] ? ['--trust-directory'] : []),
    ...(flags['base-url'] === undefined ? [] : ['--base-url', flags['base-url']]),
    ...(facts.set ?? []).flatMap(({ axis, value }) => ['--set', `${axis}=${value}`]),
    ...(limit === undefined ? [] : ['--limit', String(limit)]),
    ...(filters ?? []).flatMap(({ axis, value }) => ['--filter', `${axis}=${value}`]),
    ...(shard === undefined ? [] : ['--shard', `${shard.index}/${shard.of}`]),
    ...(only ?? []).flatMap((step) => ['--only', step]),
  ];
}
