import type { Pipeline, Speed } from '../../pipeline/pipeline.ts';
import type { RunSettings } from '../../run/ports.ts';
import type { StateReader } from '../../state/reader.ts';
import { usageError } from '../errors/cli-error.ts';
import type { RevivalFlags, RunFlags } from '../flags.ts';

/** Which settled jobs the flags have tried again. */
export interface RevivalSettings {
  readonly retryFailed?: { readonly code?: string };
  readonly inDoubt: 'hold' | 'retry';
}

/** @throws CliError (exit 2) for `--code` alone, and for a code that no failure has */
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
  if (code !== undefined && state !== undefined) await checkCode(code, state);
  return {
    ...(flags['retry-failed'] ? { retryFailed: code === undefined ? {} : { code } } : {}),
    // What is found is no longer in doubt when the run begins; what is not is held.
    inDoubt: flags['in-doubt'] === 'retry' ? 'retry' : 'hold',
  };
}

/**
 * @throws CliError (exit 2) for a code that none of the failures has: most likely it is mistyped, and nothing would be tried again
 * without a word. Where nothing has failed there is nothing to compare it with.
 */
async function checkCode(code: string, state: StateReader): Promise<void> {
  for await (const _ of state.withStatus('failed', code)) return;
  const failures = new Map<string, number>();
  for (const name of Object.keys((await state.totals()).codes)) {
    const count = await countOf(state.withStatus('failed', name));
    if (count > 0) failures.set(name, count);
  }
  if (failures.size === 0) return;
  const named = [...failures].slice(0, mostCodes).map(([name, count]) => `${name} (${count})`);
  const more = failures.size > mostCodes ? ', …' : '';
  throw usageError(
    `--code ${code}: no job has failed with this code.`,
    `Failed jobs by code: ${named.join(', ')}${more}`,
  );
}

const mostCodes = 20;

async function countOf(all: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of all) count += 1;
  return count;
}

/** What the pipeline and the flags settle about one run. */
export async function runSettings(
  pipeline: Pipeline,
  flags: RunFlags,
  speed: Speed | undefined,
  state: StateReader,
): Promise<RunSettings> {
  const { service, limits, retry, timeouts, poll, budget, prices, keepReplies } = pipeline;
  return {
    speed,
    limits,
    retry,
    timeouts: { taskMs: timeouts.taskMs, queueMs: timeouts.queueMs, textMs: timeouts.textMs },
    poll,
    tag: service.tag,
    keepReplies,
    budget,
    prices,
    ...(await revivalOf(flags, state)),
    ...(flags['in-doubt'] === 'find' ? { findInDoubt: true } : {}),
    // What was learned of one service says nothing about another.
    ...(flags.relearn || flags['new-service'] ? { relearn: true } : {}),
    failFast: flags['fail-fast'],
    ...(flags['max-failures'] === undefined ? {} : { maxFailures: flags['max-failures'] }),
    ...(flags['max-submits'] === undefined ? {} : { maxSubmits: flags['max-submits'] }),
    ...(flags['max-duration'] === undefined ? {} : { maxDurationMs: flags['max-duration'] }),
  };
}
