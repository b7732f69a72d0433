import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import { type GatewayScript, ScriptedGateway } from '../../../rig/gateway/scripted-gateway.ts';
import { finishTogether, onlySubmit, type SlicesRig, slicesRig, type TestWorker } from './slices-rig.ts';

const pictures = (path = ''): string => `name: t
matrix: { turn: { from: 1, to: 2 } }
steps: { grid: { imagine: "picture {{ turn }}"${path} } }
`;

interface Pair extends SlicesRig {
  readonly one: TestWorker;
  readonly other: TestWorker;
  readonly gateway: ScriptedGateway;
  readonly records: () => readonly JobRecord[];
}

/** Two workers with a cell each. */
async function pair(script: GatewayScript, text = pictures()): Promise<Pair> {
  const rig = await slicesRig(text);
  const [one, other] = [rig.worker(), rig.worker()];
  one.begin(1, rig.cells[0]);
  other.begin(2, rig.cells[1]);
  const gateway = new ScriptedGateway(script);
  return {
    ...rig,
    one,
    other,
    gateway,
    records: () => [...rig.state.rows.values()].map((row) => row.record),
  };
}

const statuses = ({ records }: Pair): readonly string[] => records().map(({ status }) => status);

const second: GatewayScript['repeatsId'] = ({ number }) => number === 2;

describe('two workers whose submissions got the same task id', () => {
  it('put both in doubt where the record of the task does not tell', async () => {
    const here = await pair({ repeatsId: second });
    finishTogether([here.one, here.other], here.gateway);
    expect(statuses(here)).toEqual(['in-doubt', 'in-doubt']);
    for (const { error, taskId, shared } of here.records())
      expect([error?.code, taskId, shared]).toEqual(['task.shared', undefined, undefined]);
  });

  it('leave it to the job whose prompt it shows', async () => {
    const here = await pair({ repeatsId: second, tells: 'prompt' });
    finishTogether([here.one, here.other], here.gateway);
    const [done] = here.records().filter(({ status }) => status === 'done');
    expect(statuses(here).toSorted()).toEqual(['done', 'in-doubt']);
    expect(here.gateway.tasks.get(done?.taskId ?? '')?.key).toBe(done?.key);
  });

  it('wait for an answer that may show it', async () => {
    const here = await pair({ repeatsId: second, duration: () => 0 });
    let submits = 0;
    here.gateway.latency = (route) => (route === 'submit' && submits++ === 1 ? 20_000 : 100);
    finishTogether([here.one, here.other], here.gateway);
    expect(statuses(here)).toEqual(['in-doubt', 'in-doubt']);
  });

  it('report that an earlier result may belong to another job', async () => {
    const here = await pair({});
    finishTogether([here.one], here.gateway);
    const [first] = here.records();
    here.other.now = here.one.now;
    here.other.input({ type: 'tick' });
    const late = onlySubmit(here.other.commitAll());
    here.other.hears(late, { kind: 'accepted', taskId: first?.taskId ?? '', code: 1 });
    const events = finishTogether([here.other], here.gateway);
    expect(statuses(here)).toEqual(['done', 'in-doubt']);
    expect(here.records()[1]?.shared).toEqual({ taskId: first?.taskId, jobs: [first?.key] });
    expect(events).toContainEqual(expect.objectContaining({ type: 'run:notice', code: 'task.shared' }));
  });

  it('leave a task to both where the service says that their requests are equal', async () => {
    const here = await pair({});
    finishTogether([here.one], here.gateway);
    const taskId = here.records()[0]?.taskId ?? '';
    here.other.hears(onlySubmit(here.other.commitAll()), { kind: 'accepted', taskId, code: 21 });
    finishTogether([here.other], here.gateway);
    expect(statuses(here)).toEqual(['done', 'done']);
  });

  it('confirm no dialog of another job', async () => {
    const path = ', path: [U1, { button: Vary (Subtle), remix: true, prompt: a hat }]';
    const here = await pair(
      { repeatsId: ({ pressed, number }) => pressed.includes('Vary') && number % 2 === 0, tells: 'state' },
      pictures(path),
    );
    finishTogether([here.one, here.other], here.gateway);
    const { modals, tasks } = here.gateway;
    expect(modals.map(({ record, taskId }) => tasks.get(taskId)?.key === record.key)).toEqual([true]);
    expect(statuses(here).filter((status) => status === 'in-doubt')).toHaveLength(1);
  });
});
