import { join, relative } from 'node:path';
import { openArtifactFolder } from '../../../artifacts/store/folder.ts';
import { writeManifest } from '../../../manifest/write.ts';
import type { JobRecord } from '../../../plan/job.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { sandboxId } from '../../../report/facts/services.ts';
import { count, counted } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StateStore } from '../../../state/store.ts';
import { type Finding, isFault, type Looked } from '../../../upkeep/finding.ts';
import { isRepairable, verify } from '../../../upkeep/verify.ts';
import { withoutFiles, withoutFrames } from '../../../upkeep/without-files.ts';
import { closingAfter } from '../../adapters/disposables.ts';
import { type Context, command } from '../../args/command.ts';
import { toggle } from '../../args/flags.ts';
import { placeFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { CliError, exitCodes } from '../../errors/cli-error.ts';
import { jsonLine } from '../../terminal/json-line.ts';
import { holdState } from '../../workspace/checks/hold-state.ts';
import { checkAge } from '../../workspace/checks/stale-state.ts';
import { targetOrDefault } from '../../workspace/default-file.ts';
import { planOfDirectory } from '../../workspace/last-plan.ts';
import { openTarget } from '../../workspace/open.ts';
import { run } from '../run.ts';

/** Findings of one kind that are listed one by one; `--json` has all. */
const mostListed = 20;

/** `promptpress verify FILE|DIR` */
export const verifyCommand = command(
  {
    name: 'verify',
    summary: summaries.verify,
    operands: '[FILE|DIR]',
    about: `Reads every file of a run directory and compares it with what the state says: files that are missing or changed, kept replies without their line, files that no job names, a manifest with other rows. Ends with 1 where something is wrong; a file that no job names is shown, and is no fault.

--repair mends what can be mended without a submission: images and videos are downloaded again from the service, missing frames are cut from their grid again, and the manifest is written again. Images of text models came with their answers and cannot be had again; --redo JOB makes them anew.`,
    examples: [
      {
        command: 'promptpress verify runs/foxes',
        does: 'before a data set is handed on, or after a backup was put back',
      },
      {
        command: 'promptpress verify runs/foxes --repair',
        does: 'downloads again what the service still has',
      },
      { command: 'promptpress verify runs/foxes --json', does: 'one JSON object a line for each finding' },
    ],
    flags: {
      repair: toggle(
        'download missing and changed files again, and write the manifest again; nothing is submitted',
      ),
      json: toggle('print one JSON object a line for each finding'),
      out: placeFlags.out,
      'trust-directory': placeFlags['trust-directory'],
      'base-url': placeFlags['base-url'],
      sandbox: toggle('with FILE: its rehearsal, in runs/<name>.sandbox beside it'),
    },
  },
  { least: 0, most: 1 },
  async (flags, [given], context) => {
    const { io, redactor } = context;
    const target = targetOrDefault(given, 'verify', io);
    const interrupts = io.interrupts();
    try {
      const first = await look(target, flags, context, interrupts.drain, flags.json && !flags.repair);
      if (!flags.repair || first.faults.length === 0) return await tell(first, flags, context);
      const failed = await repair(first, flags, context);
      const left = await look(first.directory, flags, context, interrupts.drain, flags.json);
      const mended = first.faults.length - left.faults.length - failed;
      if (!flags.json) await io.out(`${counted(mended, 'fault')} mended.\n`);
      const code = await tell(left, flags, context);
      if (failed === 0) return code;
      io.err(
        `promptpress: ${counted(failed, 'file')} could not be downloaded again. promptpress status says why; promptpress run --retry-failed tries once more.\n`,
      );
      return exitCodes.failed;
    } catch (error) {
      const signal = interrupts.first();
      if (signal === undefined || error instanceof CliError) throw error;
      throw new CliError(exitCodes[signal], redactor.apply('The check was interrupted.'), { cause: error });
    } finally {
      interrupts.stop();
    }
  },
);

interface Flags {
  readonly json: boolean;
  readonly out: string | undefined;
  readonly 'trust-directory': boolean;
  readonly 'base-url': string | undefined;
  readonly sandbox: boolean;
}

/** What a directory showed. */
interface Seen {
  readonly directory: string;
  readonly looked: Looked;
  /** All faults; the bytes of a finding are few, and there are as many as files at most. */
  readonly faults: readonly Finding[];
  readonly unlisted: number;
  readonly examples: readonly string[];
}

async function look(
  target: string,
  flags: Flags,
  context: Context,
  signal: AbortSignal,
  asJson: boolean,
): Promise<Seen> {
  return await closingAfter(async (disposables) => {
    const { io, redactor } = context;
    const { directory, state } = await openTarget(target, flags, context);
    disposables.add(() => state.close());
    const facts = await readRunFacts(state);
    const plan = facts === undefined ? undefined : (await planOfDirectory(directory, state, context)).plan;
    const looked: Looked = { files: 0, bytes: 0, replies: 0 };
    const faults: Finding[] = [];
    const examples: string[] = [];
    let unlisted = 0;
    const findings = verify({
      directory,
      artifacts: openArtifactFolder(directory),
      reader: state,
      ...(plan === undefined || facts === undefined
        ? {}
        : {
            manifest: {
              plan,
              selection: facts.selection,
              reader: state,
              redact: redactor.applyToData,
              signal,
            },
          }),
      hasEnded: facts?.outcome !== undefined,
      looked,
      signal,
    });
    for await (const finding of findings) {
      if (asJson) await io.out(redactor.applyToData(jsonLine(finding)));
      if (isFault(finding)) faults.push(finding);
      else {
        unlisted += 1;
        if (examples.length < mostListed) examples.push(finding.file);
      }
    }
    return { directory, looked, faults, unlisted, examples };
  });
}

/**
 * Takes damaged files out of the state, and has a run download them that may submit nothing. A job that the pipeline does not have any
 * more is not downloaded: it gets its files back in the state, so that its fault stays known.
 *
 * @returns jobs that are still without their files, and are not done any more: their download failed
 */
async function repair({ directory, faults }: Seen, flags: Flags, context: Context): Promise<number> {
  const { io, redactor } = context;
  const mendable = faults.flatMap((fault) => ('isRepairable' in fault && fault.isRepairable ? [fault] : []));
  const keys = new Set(mendable.map(({ job }) => job));
  /** Jobs whose own files are damaged, and not frames alone. */
  const toDownload = new Set(mendable.filter(({ isFrame }) => !isFrame).map(({ job }) => job));
  const held = async <T>(work: (state: StateStore) => T | Promise<T>): Promise<T> =>
    await closingAfter(async (disposables) => {
      const state = holdState(directory, 'promptpress verify --repair', disposables, io);
      await checkAge(state.reader, directory, io.env);
      return await work(state);
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
    // What the run did is said by what is found behind it.
    if (args !== undefined) ran = run.run(args, { ...context, io: { ...io, out: async () => undefined } });
    await ran?.catch(() => undefined);
  }
  const failed = await held(async (state) => {
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
    return failed;
  });
  await ran;
  return failed;
}

/** The last run once more, which only downloads. */
async function downloadArguments(
  directory: string,
  state: StateReader,
  flags: Flags,
  cwd: string,
): Promise<readonly string[] | undefined> {
  const facts = await readRunFacts(state);
  const path = await state.fact(pipelineFacts.path);
  if (facts === undefined || path === undefined) return undefined;
  // The next manifest lists what the last run chose.
  const { limit, filters, shard, only } = facts.selection;
  return [
    relative(cwd, path),
    '--out',
    relative(cwd, directory) || '.',
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

async function tell(
  { directory, looked, faults, unlisted, examples }: Seen,
  { json }: Flags,
  context: Context,
): Promise<number> {
  const { io, redactor } = context;
  const code = faults.length === 0 ? exitCodes.ok : exitCodes.failed;
  if (json) return code;
  const place = relative(io.cwd, directory) || '.';
  const size = `${(looked.bytes / 1e6).toFixed(1)} MB`;
  const lines = [
    `${place}: ${counted(looked.files, 'file')} (${size}) and ${counted(looked.replies, 'kept reply').replace('replys', 'replies')} read, ${faults.length === 0 ? 'all as the state says' : counted(faults.length, 'fault')}.`,
    ...faults.slice(0, mostListed).map((fault) => `  ${faultWords(fault)}`),
    ...(faults.length > mostListed
      ? [`  and ${count(faults.length - mostListed)} more; --json lists all`]
      : []),
  ];
  if (unlisted > 0) {
    const some = examples.slice(0, 3).map(shownLine).join(', ');
    lines.push(
      `${counted(unlisted, 'file')} that no job names, such as ${some}. promptpress clean ${quoted(place)} shows what can go.`,
    );
  }
  if (faults.some((fault) => 'isRepairable' in fault && fault.isRepairable))
    lines.push(
      'This downloads again what the service still has, cuts frames again, and submits nothing:',
      `  promptpress verify ${quoted(place)} --repair`,
    );
  await io.out(redactor.apply(`${lines.join('\n')}\n`));
  return code;
}

function faultWords(fault: Finding): string {
  switch (fault.kind) {
    case 'missing':
      return `missing: ${shownLine(fault.file)} (job ${fault.job})${fault.isRepairable ? '' : '; it cannot be downloaded again'}`;
    case 'changed':
      return `changed since it was written: ${shownLine(fault.file)} (job ${fault.job})${fault.isRepairable ? '' : '; it cannot be downloaded again'}`;
    case 'uncut':
      return `not cut into frames: ${shownLine(fault.file)} (job ${fault.job})`;
    case 'reply':
      return `reply without its line: job ${fault.job} in ${fault.file}`;
    case 'manifest':
      return {
        missing: `${fault.file} is missing`,
        torn: `${fault.file} is cut off in the middle of a row`,
        other: `${fault.file} is not what the state says: it was changed, or it is older than the state`,
      }[fault.why];
    case 'unlisted':
      return shownLine(fault.file);
  }
}
