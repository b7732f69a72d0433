import { describe, expect, it } from 'vitest';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { engineOfBlock } from '../engine-rig.ts';

const pipeline = `name: anew
poll: { min: 20ms, max: 100ms }
retry: { attempts: 1 }
matrix: { animal: [fox, owl, elk] }
steps: { grid: { imagine: "{{ animal }}" } }
`;

describe.skipIf(!hasPostgres)('an order to remake jobs on an engine', () => {
  const rig = engineOfBlock();

  it('is continued by later runs until it is closed, and each of its jobs is paid once more', async () => {
    await rig.write('anew.yaml', pipeline);
    const run = async (...flags: readonly string[]) => {
      const { out, err } = await rig.pp('run', 'anew.yaml', ...rig.lease, '--json', ...flags);
      const { submits, redo } = JSON.parse(out) as { submits: number; redo?: Record<string, number> };
      return { submits, redo, err };
    };
    expect((await run()).submits).toBe(3);
    const rows = await asked<{ key: string }>(
      rig.database.url,
      'SELECT key FROM promptpress.jobs ORDER BY key',
    );
    await rig.write('jobs.txt', rows.map(({ key }) => key).join('\n'));
    const first = await run('--redo-jobs', 'jobs.txt', '--max-submits', '1');
    expect([first.submits, first.redo]).toEqual([1, { waiting: 2, begun: 0, made: 1, closed: 0 }]);
    const plan = await rig.pp('plan', 'anew.yaml', '--engine', rig.database.url, '--json');
    expect(JSON.parse(plan.out)).toMatchObject({ total: { submits: 2 }, redo: { waiting: 2, made: 1 } });
    const second = await run();
    expect([second.submits, second.redo]).toEqual([2, { waiting: 0, begun: 0, made: 0, closed: 3 }]);
    const third = await run('--redo-jobs', 'jobs.txt');
    expect([third.submits, third.redo]).toEqual([0, undefined]);
    expect(third.err).toContain('all 3 jobs were made anew already');
    expect((await run('--redo-jobs', 'jobs.txt', '--redo-again')).submits).toBe(3);
    expect(rig.service.count('imagine')).toBe(9);
  });

  it('is dropped only once no worker can continue it', async () => {
    const { url } = rig.database;
    const anew = (...flags: readonly string[]) =>
      rig.pp('run', 'anew.yaml', '--engine', url, '--queue', 'lease', '--detach', ...flags);
    await anew('--redo-jobs', 'jobs.txt', '--redo-again');
    await asked(
      url,
      "INSERT INTO promptpress.sessions (name, run) SELECT 'at work', run FROM promptpress.runs",
    );
    await asked(
      url,
      'UPDATE promptpress.slices SET epoch = epoch + 1, holder = (SELECT max(session) FROM promptpress.sessions) WHERE NOT done',
    );
    await asked(
      url,
      `CREATE TABLE held AS SELECT count(*)::int AS slices FROM promptpress.slices WHERE holder IS NOT NULL;
       CREATE FUNCTION note_held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO held SELECT count(*) FROM promptpress.slices WHERE holder IS NOT NULL;
         RETURN NULL;
       END $$;
       CREATE TRIGGER note_held AFTER DELETE ON promptpress.redos EXECUTE FUNCTION note_held()`,
    );
    expect((await anew('--redo-cancel')).err).toContain('Redo: the order is dropped; 3 jobs of it');
    expect(await asked(url, 'SELECT slices FROM held')).toEqual([{ slices: 3 }, { slices: 0 }]);
  });
});
