import { codeHint, failureCodes } from '../../pipeline/diagnostics/job-errors.ts';
import type { Pipeline, Speed } from '../../pipeline/pipeline.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { StateReader } from '../../state/reader.ts';
import { usageError } from '../errors/cli-error.ts';
import type { RevivalFlags, RunFlags } from '../flags.ts';

/** The settled jobs to retry, as the flags select them. */
export interface RevivalSettings {
  readonly retryFailed?: { readonly code?: string };
  readonly inDoubt: 'hold' | 'retry';
}

/** Reads the retry flags. @throws CliError (exit 2) for `--code` alone, and for a code that no failure has */
export async function revivalOf(
  flags: Pick<RevivalFlags, 'code' | 'retry-failed' | 'in-doubt'>,
  state: StateReader | undefined,
): Promise<RevivalSettings> {
  const { code } = flags;
  if (code !== undefined && !flags['retry-failed']) {
    throw usageError(
      '--code narrows --retry-failed; alone it does nothing.',
      `Did you mean --retry-failed --code ${code}?`,
    );
  }
  if (code !== undefined) await checkCode(code, state);
  return {
    ...(flags['retry-failed'] ? { retryFailed: code === undefined ? {} : { code } } : {}),
    // Jobs whose task was found are no longer in doubt when the run begins; the others are held.
    inDoubt: flags['in-doubt'] === 'retry' ? 'retry' : 'hold',
  };
}

/**
 * Checks that some failure has a code.
 * @throws CliError (exit 2) if none has: the code is probably mistyped, and nothing would be retried without a message
 */
async function checkCode(code: string, state: StateReader | undefined): Promise<void> {
  const counts = Object.entries((await state?.totals())?.codes.failed ?? {});
  const failures = counts.filter(([, count]) => count > 0);
  if (failures.some(([name]) => name === code)) return;
  const isCode = failureCodes.includes(code);
  if (failures.length === 0 && isCode) return;
  const named = failures.slice(0, maxCodes).map(([name, count]) => `${name} (${count})`);
  const more = failures.length > maxCodes ? ', …' : '';
  throw usageError(
    `--code ${code}: ${isCode ? 'no job has failed with this code' : 'no failure can have this code'}.`,
    [
      ...(isCode ? [] : [codeHint(code)]),
      ...(named.length === 0 ? [] : [`Failed jobs by code: ${named.join(', ')}${more}`]),
    ].join('\n'),
  );
}

const maxCodes = 20;

/** Returns the settings of one run, from the pipeline and the flags. */
export async function runSettings(
  pipeline: Pipeline,
  flags: RunFlags,
  speed: Speed | undefined,
  state: StateReader,
): Promise<RunSettings> {
  const { service, limits, retry, timeouts, poll, budget, prices, keepReplies, acceptedFailures } = pipeline;
  return {
    speed,
    limits,
    retry,
    timeouts: { taskMs: timeouts.taskMs, queueMs: timeouts.queueMs, textMs: timeouts.textMs },
    poll,
    tag: service.tag,
    keepReplies,
    ...(acceptedFailures.length > 0 && { acceptedFailures }),
    budget,
    prices,
    ...(await revivalOf(flags, state)),
    ...(flags['in-doubt'] === 'find' ? { findInDoubt: true } : {}),
    // Rates that were measured for one service say nothing about another.
    ...(flags.relearn || flags['new-service'] ? { relearn: true } : {}),
    failFast: flags['fail-fast'],
    ...(flags['max-failures'] === undefined ? {} : { maxFailures: flags['max-failures'] }),
    ...(flags['max-submits'] === undefined ? {} : { maxSubmits: flags['max-submits'] }),
    ...(flags['max-duration'] === undefined ? {} : { maxDurationMs: flags['max-duration'] }),
  };
}
