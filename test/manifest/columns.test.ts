import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manifestColumns, manifestHeader, rowFields } from '../../src/manifest/columns.ts';
import type { ManifestRow } from '../../src/manifest/row.ts';
import type { Artifact, JobRecord } from '../../src/plan/job.ts';
import type { Slot } from '../../src/plan/slot.ts';
import { clickRecord, imagineRecord, textRecord } from '../rig/jobs.ts';

const artifact: Artifact = {
  output: 2,
  file: 'images/aa/aa11-2.png',
  bytes: 1234,
  sha256: 'c0ffee',
  mime: 'image/png',
  width: 1024,
  height: 512,
};

function row(record: JobRecord, changes: Partial<ManifestRow> = {}, slot: Partial<Slot> = {}): ManifestRow {
  return {
    cell: { number: 7, vars: { animal: 'fox', size: [1, 2] }, repeat: 1 },
    slot: {
      cell: 7,
      step: 'grid',
      kind: 'click',
      branch: ['U1', 'Vary (Strong)'],
      depth: 2,
      keep: true,
      id: 's1',
      status: 'done',
      ready: false,
      prompt: 'a fox',
      job: { key: 'bb22' } as unknown as NonNullable<Slot['job']>,
      record,
      ...slot,
    },
    chosen: true,
    firstOfSlot: true,
    firstOfJob: true,
    ...changes,
  };
}

/** The columns that are not empty, by name. */
function shown(of: ManifestRow): Readonly<Record<string, string>> {
  const fields = rowFields(of, ['animal', 'size', 'none']);
  const header = manifestHeader(['animal', 'size', 'none']);
  expect(fields).toHaveLength(header.length);
  return Object.fromEntries(
    header.map((name, n) => [name, fields[n] ?? '']).filter(([, value]) => value !== ''),
  );
}

const task = clickRecord({
  status: 'done',
  attempts: 3,
  speed: 'fast',
  taskId: 'T2',
  pressed: { customId: 'IMG::U1', label: 'U1', emoji: '🔼' },
  submittedAt: 0,
  finishedAt: Date.UTC(2026, 10, 1, 12, 1, 2, 3),
  result: { imageUrl: 'https://images.test/2.png', buttons: [] },
  cost: 0.1 + 0.2,
  usage: { prompt: 1, cached: 2, candidates: 3, thoughts: 4, tool: 5, total: 6 },
  error: { code: 'task.failed', message: 'old', requestId: 'R1' },
});

describe('a row', () => {
  it('has a field for every column', () => {
    expect(
      shown(
        row(
          task,
          { artifact, parentTaskId: 'T1' },
          { error: { code: 'ancestor.failed', message: 'Above.' } },
        ),
      ),
    ).toEqual({
      file_name: 'images/aa/aa11-2.png',
      cell: '7',
      step: 'grid',
      branch: 'U1/Vary (Strong)',
      output: '2',
      status: 'done',
      kind: 'click',
      prompt: 'a fox',
      image_url: 'https://images.test/2.png',
      task_id: 'T2',
      parent_task_id: 'T1',
      button: 'U1',
      custom_id: 'IMG::U1',
      speed: 'fast',
      width: '1024',
      height: '512',
      bytes: '1234',
      mime: 'image/png',
      sha256: 'c0ffee',
      prompt_tokens: '1',
      cached_tokens: '2',
      candidates_tokens: '3',
      thoughts_tokens: '4',
      tool_tokens: '5',
      total_tokens: '6',
      cost: '0.3',
      attempts: '3',
      submitted_at: '1970-01-01T00:00:00.000Z',
      finished_at: '2026-11-01T12:01:02.003Z',
      error_code: 'ancestor.failed',
      error_message: 'Above.',
      request_id: 'R1',
      job: 'bb22',
      'var.animal': 'fox',
      'var.size': '[1,2]',
    });
  });

  it('of a text call has the text columns too', () => {
    const record = textRecord({
      status: 'done',
      text: {
        model: 'text-pro-002',
        blockReason: 'OTHER',
        requestId: 'R2',
        candidates: [{ text: 'Hello.', isJson: false, finishReason: 'STOP', parts: [] }],
      },
    });
    expect(shown(row(record, {}, { kind: 'generate' }))).toMatchObject({
      text: 'Hello.',
      model: 'text-pro-002',
      finish_reason: 'STOP',
      block_reason: 'OTHER',
      request_id: 'R2',
    });
  });

  it('shows no tokens and no cost unless it is the first of its job', () => {
    const names = ['cost', ...manifestColumns.filter((name) => name.endsWith('_tokens'))];
    const fields = shown(row(task, { firstOfJob: false }));
    expect(names.filter((name) => name in fields)).toEqual([]);
    expect(fields).toMatchObject({ attempts: '3', task_id: 'T2' });
  });

  it('shows a known 0 as 0, and an unknown value as empty', () => {
    const fields = shown(
      row(imagineRecord({ cost: 0, usage: { total: 0 }, submittedAt: 0 }), {}, { branch: [] }),
    );
    expect(fields).toMatchObject({ cost: '0', total_tokens: '0', submitted_at: '1970-01-01T00:00:00.000Z' });
    for (const name of [
      'branch',
      'prompt_tokens',
      'finished_at',
      'var.none',
      'button',
      'request_id',
      'width',
    ])
      expect(fields).not.toHaveProperty([name]);
  });

  it('shows no cost that is only partly known', () => {
    expect(shown(row({ ...task, partlyPriced: true }))).not.toHaveProperty('cost');
  });

  it('names the request of its error, else that of its reply', () => {
    const error = { code: 'connection.lost', message: 'no', requestId: 'of-error' } as const;
    const text = { candidates: [], requestId: 'of-reply' };
    const asked = (record: Partial<JobRecord>): string | undefined =>
      shown(row(textRecord(record)))['request_id'];
    expect([asked({ error, text }), asked({ text }), asked({})]).toEqual(['of-error', 'of-reply', undefined]);
  });

  it('names a button without a label by its emoji', () => {
    const pressed = { customId: 'IMG::reroll', label: '', emoji: '🔄' };
    expect(shown(row({ ...task, pressed }))).toMatchObject({ button: '🔄', custom_id: 'IMG::reroll' });
  });

  it('of a video shows the link of its own file', () => {
    const videoUrls = ['https://v.test/1.mp4', 'https://v.test/2.mp4'];
    const film = { ...task, result: { imageUrl: 'https://v.test/still.png', videoUrls, buttons: [] } };
    const linkOf = (output: number | undefined): string | undefined =>
      shown(row(film, output === undefined ? {} : { artifact: { ...artifact, output } }))['image_url'];
    expect([linkOf(1), linkOf(2), linkOf(3), linkOf(undefined)]).toEqual([
      'https://v.test/1.mp4',
      'https://v.test/2.mp4',
      'https://v.test/still.png',
      'https://v.test/1.mp4',
    ]);
  });

  it('of a frame shows the link of that frame; the row of its grid shows that of the grid', () => {
    const frameUrls = ['https://i.test/a.png', 'https://i.test/b.png'];
    const cut = { ...task, result: { imageUrl: 'https://i.test/grid.png', frameUrls, buttons: [] } };
    const links = [1, 2, 3].map(
      (output) => shown(row(cut, { artifact: { ...artifact, output } }))['image_url'],
    );
    expect(links).toEqual(['https://i.test/grid.png', ...frameUrls]);
  });

  it('of a slot that was never begun shows the values of the plan', () => {
    const { record: _, ...slot } = row(task).slot;
    expect(shown({ ...row(task), slot: { ...slot, status: 'pending' } })).toEqual({
      cell: '7',
      step: 'grid',
      branch: 'U1/Vary (Strong)',
      status: 'pending',
      kind: 'click',
      prompt: 'a fox',
      job: 'bb22',
      'var.animal': 'fox',
      'var.size': '[1,2]',
    });
  });
});

it('each time is written in UTC to the millisecond, whatever the rows before it contain', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
  const near = fc.tuple(moment, fc.array(fc.integer({ min: 0, max: 2500 }), { maxLength: 8 }));
  fc.assert(
    fc.property(near, ([first, later]) => {
      for (const more of [0, ...later]) {
        const fields = rowFields(row(imagineRecord({ submittedAt: first + more })), []);
        expect(fields[manifestColumns.indexOf('submitted_at')]).toBe(new Date(first + more).toISOString());
      }
    }),
  );
});

it('shows the run directory that a job was taken over from', () => {
  expect(shown(row({ ...task, reusedFrom: '../foxes' }))).toMatchObject({ reused_from: '../foxes' });
  expect(shown(row(task))).not.toHaveProperty('reused_from');
});
