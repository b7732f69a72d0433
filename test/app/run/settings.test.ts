import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/app/errors/cli-error.ts';
import { noFlags, type RunFlags } from '../../../src/app/flags.ts';
import { revivalOf, runSettings } from '../../../src/app/run/settings.ts';
import type { JobErrorCode } from '../../../src/pipeline/diagnostics/job-errors.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { pipelineOf } from '../../rig/pipeline-builder.ts';

const flags = {
  'retry-failed': true,
  code: undefined,
  redo: [],
  'redo-jobs': undefined,
  'in-doubt': undefined,
} as const;

function stateWith(...codes: readonly JobErrorCode[]) {
  const store = memoryStore();
  const records = codes.map((code, at) =>
    imagineRecord({ key: `k${at}`, status: 'failed', error: { code, message: 'no' } }),
  );
  store.commit({ records, attempts: [] });
  return store;
}

async function refusal(code: string, ...codes: readonly JobErrorCode[]): Promise<CliError | undefined> {
  try {
    await revivalOf({ ...flags, code }, stateWith(...codes).reader);
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

it.each(['relearn', 'new-service'] as const)('--%s forgets measured rates of the service', async (name) => {
  const pipeline = await pipelineOf('name: foxes\nsteps: { grid: { imagine: a fox } }\n');
  const { reader } = stateWith();
  const relearns = async (given: Partial<RunFlags>): Promise<boolean> =>
    (await runSettings(pipeline, { ...noFlags, ...given }, undefined, reader)).relearn === true;
  expect([await relearns({}), await relearns({ [name]: true })]).toEqual([false, true]);
});

describe('--retry-failed --code', () => {
  it('rejects a code that no failure has, and lists the existing ones', async () => {
    const error = await refusal('task.moderated', 'task.failed', 'task.failed', 'task.timeout');
    expect(error?.exitCode).toBe(2);
    const words = JSON.stringify([error?.message, error?.hint]);
    for (const part of ['--code task.moderated', 'task.failed (2)', 'task.timeout (1)'])
      expect(words).toContain(part);
    expect(words).not.toContain('--retry-failed');
  });

  it('takes a code that no failure has any more for one that none has', async () => {
    const { reader } = stateWith('task.timeout');
    const { codes, ...totals } = await reader.totals();
    const state = {
      ...reader,
      totals: () =>
        Promise.resolve({ ...totals, codes: { ...codes, failed: { ...codes.failed, 'task.failed': 0 } } }),
    };
    const refused = revivalOf({ ...flags, code: 'task.failed' }, state);
    await expect(refused).rejects.toMatchObject({
      exitCode: 2,
      hint: 'Failed jobs by code: task.timeout (1)',
    });
  });

  it('does not list codes of jobs that have not failed, or no longer fail', async () => {
    const store = stateWith('task.timeout', 'task.failed');
    const error = { code: 'connection.lost' as const, message: 'no' };
    const records = [
      imagineRecord({ key: 'k0', status: 'pending', error: { code: 'task.timeout', message: 'no' } }),
      imagineRecord({ key: 'k2', status: 'in-doubt', error }),
    ];
    store.commit({ records, attempts: [] });
    const refused = await revivalOf({ ...flags, code: 'service.rejected' }, store.reader).catch(
      (thrown: unknown) => thrown,
    );
    expect((refused as CliError).hint).toBe('Failed jobs by code: task.failed (1)');
  });

  it('names the code that was meant by a mistyped one, whatever has failed', async () => {
    for (const failed of [[], ['task.failed', 'task.timeout']] as const) {
      const error = await refusal('task.moderatd', ...failed);
      expect(error?.exitCode).toBe(2);
      expect(error?.hint).toContain('Did you mean "task.moderated"?');
    }
    const early = revivalOf({ ...flags, code: 'task.faild' }, undefined);
    await expect(early).rejects.toMatchObject({ hint: 'Did you mean "task.failed"?' });
  });

  it('accepts a code of another release where a failure has it', async () => {
    expect(await refusal('task.of-old', 'task.of-old' as JobErrorCode)).toBeUndefined();
  });

  it('accepts a code that a failure has, and any real one if nothing has failed', async () => {
    expect(await refusal('task.failed', 'task.failed', 'task.timeout')).toBeUndefined();
    expect(await refusal('task.failed')).toBeUndefined();
  });
});
