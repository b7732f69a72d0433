import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { canConfirm, isConfirmSent, modalOpened } from '../../../src/run/machine/modal.ts';
import { modalNotOpened } from '../../../src/run/machine/poll/poll.ts';
import { clickRecord, context, epoch, imagineRecord, job } from '../../rig/jobs.ts';

type Click = Extract<JobRecord['request'], { readonly kind: 'click' }>;
const click = (
  fields: Click['fields'],
  more: Partial<Click> = {},
  changes: Partial<JobRecord> = {},
): JobRecord =>
  clickRecord({
    request: { kind: 'click', press: [{ kind: 'text', text: 'Vary' }], fields, ...more },
    ...changes,
  });
const mask = { kind: 'shapes', shapes: [] } as unknown as NonNullable<Click['mask']>;
const pressed = (customId: string) => ({ customId, label: 'Vary', emoji: '' });

describe('the confirm of a modal', () => {
  it.each<[string, JobRecord, boolean]>([
    ['a prompt', click({ prompt: 'a hat' }), true],
    ['a mask', click({}, { mask }), true],
    ['a remix', click({ remix: true }), true],
    ['a remix that is off', click({ remix: false }), false],
    ['an empty prompt', click({ prompt: '' }), false],
    ['a prompt of null', click({ prompt: null }), false],
    ['nothing', click({}), false],
    ['a suggestion of the button', click({}, {}, { pressed: pressed('IMG::PicReader::2') }), true],
    ['a button without a suggestion', click({}, {}, { pressed: pressed('IMG::variation::2') }), false],
    ['no click', imagineRecord(), false],
  ])('%s: %#', (_what, record, can) => {
    expect(canConfirm(record)).toBe(can);
  });

  it('is not repeated once it was sent', () => {
    const sent = (count: number) => isConfirmSent(click({}, {}, { modal: { taskId: 'T', sent: count } }));
    expect([isConfirmSent(click({})), sent(0), sent(1), sent(2)]).toEqual([false, false, true, true]);
  });

  it('is sent in a turn of its own, or the job has failed', () => {
    const opened = modalOpened(
      job(click({ prompt: 'a hat' }), { misses: 3, lastPoll: true }),
      'T7',
      context(),
    ).job;
    expect(opened.record).toMatchObject({
      status: 'modal',
      taskId: 'T7',
      modal: { taskId: 'T7', sent: 0 },
      tries: 0,
    });
    expect(opened).toMatchObject({
      misses: 0,
      nextRequest: { kind: 'wait', until: epoch + 1, next: { kind: 'modal' } },
    });
    expect(opened).not.toHaveProperty('lastPoll');
    for (const [record, words] of [
      [click({}), 'Give the answer in the path'],
      [imagineRecord(), 'a button’s step in a path'],
    ] as const) {
      const failed = modalOpened(job(record), 'T7', context()).job;
      expect(failed).toMatchObject({
        nextRequest: { kind: 'nothing' },
        record: { status: 'failed', taskId: 'T7', error: { code: 'modal.unanswered' } },
      });
      expect(failed.record.error?.message).toContain(words);
    }
  });
});

describe('a click that was to confirm a modal, and opened none', () => {
  const error = (record: JobRecord, above?: string) => modalNotOpened(record, { promptAbove: () => above });

  it.each<[string, JobRecord, string | undefined]>([
    ['it says nothing', click({}), undefined],
    ['its prompt is the one above', click({ prompt: ' a fox ' }), 'a fox\n'],
    ['its modal opened', click({ prompt: 'a hat' }, { mask }, { modal: { taskId: 'T', sent: 1 } }), 'a fox'],
    ['it is no click', imagineRecord(), undefined],
    ['its prompt is empty', click({ prompt: '  ' }), 'a fox'],
  ])('succeeds where %s', (_what, record, above) => {
    expect(error(record, above)).toBeUndefined();
  });

  it.each<[string, JobRecord, readonly string[]]>([
    [
      'a prompt',
      click({ prompt: 'a hat' }),
      ['its `prompt` was not used', 'The button opened', 'take the prompt away', 'write `remix: true`'],
    ],
    ['a mask', click({}, { mask }), ['its `mask` was not used', 'take the mask away']],
    [
      'both',
      click({ prompt: 'a hat' }, { mask }, { pressed: pressed('IMG::x') }),
      [
        'its `prompt` and `mask` was not used',
        'The button Vary opened',
        'take the prompt and the mask away',
        ', or press a button that asks, or take',
      ],
    ],
    [
      'a remix',
      click({ prompt: 'a hat', remix: true }),
      ['no dialog although it was remixed', 'Either press a button that asks, or take the prompt away.'],
    ],
  ])('fails where it would have sent %s', (_what, record, words) => {
    const why = error(record, 'a fox');
    expect(why?.code).toBe('modal.not-opened');
    for (const part of words) expect(why?.message).toContain(part);
    const isRemixed = record.request.fields['remix'] === true;
    expect(why?.message.includes('write `remix: true`')).toBe(!isRemixed);
    expect(why?.message.includes('although it was remixed')).toBe(isRemixed);
  });

  it('cannot know whether its prompt is the inherited one where that is unknown', () => {
    expect(error(click({ prompt: 'a hat' }), undefined)?.code).toBe('modal.not-opened');
  });
});
