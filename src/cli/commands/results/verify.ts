import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { closingAfter } from '../../../app/adapters/disposables.ts';
import type { Context } from '../../../app/context.ts';
import { CliError, exitCodes } from '../../../app/errors/cli-error.ts';
import type { Interrupts } from '../../../app/output/io.ts';
import { jsonLine } from '../../../app/output/json-line.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import { engineVariable } from '../../../app/service/engine/connect.ts';
import { targetOrDefault } from '../../../app/workspace/default-file.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { type RunPlace, seenFrom } from '../../../report/facts/place.ts';
import { count, counted, sameFilesWords } from '../../../report/text/amounts.ts';
import { quoted, shownLine } from '../../../report/text/printable.ts';
import type { SameFilesFound } from '../../../results/same-files.ts';
import { type Finding, isFault, type Looked } from '../../../upkeep/finding.ts';
import { verify } from '../../../upkeep/verify.ts';
import { command } from '../../args/command.ts';
import { toggle } from '../../args/flags.ts';
import { placeFlags } from '../../args/run-flags.ts';
import { summaries } from '../../args/summaries.ts';
import { type RepairFlags, repair } from './repair.ts';

/** Largest number of findings listed of each kind; `--json` has all. */
const maxListed = 20;

/** `promptpress verify FILE|DIR` */
export const verifyCommand = command(
  {
    name: 'verify',
    summary: summaries.verify,
    operands: '[FILE|DIR]',
    about: `Reads every file of a run directory and compares it with what the state says: files that are missing or changed, finished jobs whose files were not downloaded, kept replies without their line, files that no job names, a manifest with other rows. The exit code is 1 if something is wrong; a file that no job names is shown, but is not a fault.

--repair mends what can be mended without a submission: images and videos are downloaded again from the service, missing frames are cut from their grid again, and the manifest is written again. Images of text models came with their answers and cannot be had again; --redo JOB makes them anew. Of a run on an engine it takes the pipeline file, with the engine in PROMPTPRESS_ENGINE, and leads the run meanwhile; it is refused until the run is over (exit 75).`,
    examples: [
      {
        command: 'promptpress verify runs/foxes',
        does: 'before you share a data set, or after you restore a backup',
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
    const { io } = context;
    const target = targetOrDefault(given, 'verify', io);
    // Until the plan is read, a kill loses nothing.
    const interrupts = io.interrupts('late');
    try {
      const first = await look(target, flags, context, interrupts, flags.json && !flags.repair);
      if (!flags.repair || first.faults.length === 0) return await tell(first, flags, context);
      const failed = await repair(first, flags, interrupts.leave, context);
      const left = await look(first.target, flags, context, interrupts, flags.json);
      const mended = first.faults.length - left.faults.length - failed;
      if (!flags.json) await io.out(`${counted(mended, 'fault')} repaired.\n`);
      const code = await tell(left, flags, context);
      if (failed === 0) return code;
      io.err(
        `promptpress: ${counted(failed, 'file')} could not be downloaded again. promptpress status says why; promptpress run --retry-failed tries once more.\n`,
      );
      return exitCodes.failed;
    } catch (error) {
      const signal = interrupts.first();
      if (signal === undefined || error instanceof CliError) throw error;
      throw new CliError(exitCodes[signal], 'The check was interrupted.', { cause: error });
    } finally {
      interrupts.stop();
    }
  },
);

interface Flags extends RepairFlags {
  readonly repair: boolean;
  readonly json: boolean;
  readonly out: string | undefined;
  readonly sandbox: boolean;
}

/** Findings of a verification. */
interface Seen {
  /** Name of the run for other commands. */
  readonly target: string;
  readonly place: RunPlace;
  readonly isOnEngine: boolean;
  /** Absolute path of the pipeline that the user named. */
  readonly file: string | undefined;
  readonly directory: string;
  readonly looked: Looked;
  /** All faults. They are bounded by the number of files and small. */
  readonly faults: readonly Finding[];
  readonly unlisted: number;
  readonly examples: readonly string[];
  /** Files of different jobs with the same bytes. */
  readonly same: SameFilesFound | undefined;
  /** Results that may belong to other jobs. */
  readonly shared: readonly Extract<Finding, { kind: 'shared' }>[];
}

async function look(
  target: string,
  flags: Flags,
  context: Context,
  interrupts: Pick<Interrupts, 'drain' | 'listen'>,
  asJson: boolean,
): Promise<Seen> {
  const { drain: signal } = interrupts;
  return await closingAfter(async (disposables) => {
    const { io, redactor } = context;
    const { directory, place, engine, state, file } = await openTarget(target, flags, context, 'files');
    disposables.add(() => state.close());
    const { plan, facts } = await planOfDirectory(directory, state, context, file, signal);
    interrupts.listen();
    const { store: artifacts } = await openArtifactsOf(directory, state, signal, disposables, context);
    const looked: Looked = { files: 0, bytes: 0, replies: 0 };
    const faults: Finding[] = [];
    const examples: string[] = [];
    let unlisted = 0;
    let same: SameFilesFound | undefined;
    const shared: Seen['shared'][number][] = [];
    const findings = verify({
      directory,
      artifacts,
      reader: state,
      manifest: {
        plan,
        selection: facts.selection,
        reader: state,
        redact: redactor.applyToData,
        signal,
      },
      // Without its run directory here, nobody has written a manifest.
      hasEnded:
        facts.outcome !== undefined && (engine === undefined || existsSync(join(directory, runFiles.engine))),
      looked,
      signal,
    });
    for await (const finding of findings) {
      if (asJson) await io.data(jsonLine(finding));
      if (isFault(finding)) faults.push(finding);
      else if (finding.kind === 'same') same = finding;
      else if (finding.kind === 'shared') shared.push(finding);
      else {
        unlisted += 1;
        if (examples.length < maxListed) examples.push(finding.file);
      }
    }
    return {
      target: engine === undefined ? directory : target,
      place,
      isOnEngine: engine !== undefined,
      file,
      directory,
      looked,
      faults,
      unlisted,
      examples,
      same,
      shared,
    };
  });
}

async function tell(
  { place: { name: place }, isOnEngine, file, looked, faults, unlisted, examples, same, shared }: Seen,
  { json }: Flags,
  context: Context,
): Promise<number> {
  const { io } = context;
  const code = faults.length === 0 ? exitCodes.ok : exitCodes.failed;
  if (json) return code;
  const size = `${(looked.bytes / 1e6).toFixed(1)} MB`;
  const lines = [
    `${place}: ${counted(looked.files, 'file')} (${size}) and ${counted(looked.replies, 'kept reply').replace('replys', 'replies')} read, ${faults.length === 0 ? 'all as the state says' : counted(faults.length, 'fault')}.`,
    ...faults.slice(0, maxListed).map((fault) => `  ${faultWords(fault)}`),
    ...(faults.length > maxListed
      ? [`  and ${count(faults.length - maxListed)} more; --json lists all`]
      : []),
  ];
  if (same !== undefined) lines.push(`warning: ${shownLine(sameFilesWords(same))}.`);
  lines.push(...shared.slice(0, maxListed).map((finding) => `warning: ${faultWords(finding)}.`));
  if (unlisted > 0) {
    const some = examples.slice(0, 3).map(shownLine).join(', ');
    lines.push(
      `${counted(unlisted, 'file')} that no job names, such as ${some}. promptpress clean ${quoted(place)} shows what can go.`,
    );
  }
  if (faults.some((fault) => 'isRepairable' in fault && fault.isRepairable))
    lines.push(
      'This downloads again what the service still has, cuts frames again, and submits nothing:',
      `  promptpress verify ${isOnEngine ? `${file === undefined ? 'FILE' : quoted(seenFrom(io.cwd, file))} --repair   # the engine in ${engineVariable}` : `${quoted(place)} --repair`}`,
    );
  if (faults.some(({ kind }) => kind === 'unsaved'))
    lines.push('The next promptpress run also downloads and cuts what is not done yet.');
  await io.out(`${lines.join('\n')}\n`);
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
    case 'unsaved':
      return fault.isFrame
        ? `not cut into frames yet: job ${fault.job}`
        : `not downloaded yet: the files of job ${fault.job}, which is done`;
    case 'reply':
      return `reply without its line: job ${fault.job} in ${fault.file}`;
    case 'moved':
      return `${counted(fault.replies, 'reply').replace('replys', 'replies')} complete, but not where the state says: text was removed from ${fault.file}, or inserted`;
    case 'manifest':
      return {
        missing: `${fault.file} is missing`,
        torn: `${fault.file} is cut off in the middle of a row`,
        other: `${fault.file} differs from the state: it was changed, or is older than the state`,
      }[fault.why];
    case 'same':
      return sameFilesWords(fault);
    case 'shared':
      return `job ${fault.job} is done with a task whose id job ${fault.other} got too, so its result may be that of the other: check it; --redo makes it again`;
    case 'unlisted':
      return shownLine(fault.file);
  }
}
