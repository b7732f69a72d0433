import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStateForReading } from '../../src/state/state.ts';
import { promptpress } from '../cli/test-io.ts';
import { cli } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { hasHappened, type Mishap, mishapEnv } from '../rig/mishap.ts';
import { openPlace } from '../rig/run-place.ts';
import { quick } from './pipelines.ts';

const pipeline = `name: killed
service: { id: fake }
${quick}
matrix: { animal: [fox, owl, lynx] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
  words: { chat: { model: chat-mini, prompt: "a {{ animal }}" } }
`;

const moments: readonly Mishap[] = (
  [
    ['image sync', 2, 'before'],
    ['image rename', 1, 'before'],
    ['image rename', 4, 'after'],
    ['reply write', 1, 'after'],
    ['state commit', 2, 'before'],
    ['state commit', 3, 'after'],
    ['wal sync', 2, 'after'],
  ] as const
).map(([moment, n, when]) => ({ moment, n, when, does: 'SIGKILL' }));

describe('a run that is killed while it takes jobs over', () => {
  it('has all of them in the end, whole, whether the next run is told so or not, and sends nothing', async () => {
    await using place = await openPlace(pipeline);
    const { folder: cwd, service, env } = place;
    expect((await place.run()).code).toBe(0);
    const submits = service.submits.all.length;
    const chats = service.count('chat');
    const paid = await place.rows();
    let kills = 0;
    for (const [at, mishap] of moments.entries()) {
      const args = ['run', 'killed.yaml', '--out', `again-${at}`];
      const reuse = [...args, '--reuse', 'runs/killed'];
      const killed = await cli(reuse, { cwd, env: { ...env, ...mishapEnv(mishap) } });
      if (hasHappened(killed.stderr)) kills += 1;
      const state = openStateForReading(join(cwd, `again-${at}`));
      const isOrdered = (await state?.fact('run.reuse')) !== undefined;
      await state?.close();
      const last = await promptpress(isOrdered && at % 3 !== 0 ? args : reuse, { cwd, env });
      expect(last.code, `${JSON.stringify(mishap)}: ${last.err}`).toBe(0);
      expect([service.submits.all.length, service.count('chat')], JSON.stringify(mishap)).toEqual([
        submits,
        chats,
      ]);
      const checked = await promptpress(['verify', `again-${at}`], { cwd, env });
      expect(checked.code, checked.out).toBe(0);
      const rows = await readManifest(join(cwd, `again-${at}`, 'manifest.csv'));
      expect(rows.map(({ file_name, sha256, task_id }) => [file_name, sha256, task_id])).toEqual(
        paid.map(({ file_name, sha256, task_id }) => [file_name, sha256, task_id]),
      );
    }
    expect(kills).toBeGreaterThan(3);
  }, 120_000);
});
