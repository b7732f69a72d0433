import { describe, expect, it } from 'vitest';
import {
  kindOfRequest,
  operationOf,
  withoutParticulars,
} from '../../../../src/run/scheduler/routes/kind-names.ts';
import { KindState, Kinds, refusalsInARow } from '../../../../src/run/scheduler/routes/kinds.ts';
import type { RouteSignal } from '../../../../src/run/scheduler/routes/outcome.ts';
import { imagineRecord } from '../../../rig/jobs.ts';

const minute = 60_000;

/** Tells a kind of a result at a moment, while others were served so often; `alone`: it says nothing of its route. */
function told(kind: KindState) {
  return (
    signal: RouteSignal,
    { at = 0, others = 0, key = 'k', isFirst = true, areMoreWaiting = false } = {},
  ) =>
    kind.note(signal, {
      key,
      isFirst,
      now: at,
      others,
      areMoreWaiting: () => areMoreWaiting,
      restMs: (times) => times * 1000,
      taskMs: 20 * minute,
      patienceMs: 60 * minute,
    }) ?? (kind.isRefusedAlone ? 'alone' : undefined);
}
const edits = (wasServed = false) => told(new KindState('edits', 'submit', wasServed));
const refused = (words: string, about?: 'not-offered'): RouteSignal => ({
  kind: 'refused',
  words,
  ...(about && { about }),
});
const busy: RouteSignal = { kind: 'throttled', reason: 'code 9: busy' };
const noChannel: RouteSignal = { kind: 'throttled', reason: '无可用渠道', about: 'no-channel' };
const quota: RouteSignal = { kind: 'quota', reason: 'no money' };

describe('a kind', () => {
  it.each([
    ['MJ::JOB::upsample::1::0000-aa', 'U1–U4'],
    ['IMG::JOB::variation::4::0000-aa', 'V1–V4'],
    ['MJ::JOB::pan_left::1::0000::SOLO', 'pan'],
    ['MJ::JOB::pan_up::1::0000::SOLO', 'pan'],
    ['MJ::JOB::upsample_v6r1_2x_subtle::1::0000::SOLO', 'upscale'],
    ['MJ::Inpaint::1::0000::SOLO', 'vary region'],
    ['MJ::JOB::reroll::0::0000::SOLO', 'reroll'],
    ['MJ::Job::PicReader::1', 'buttons of descriptions'],
    ['MJ::Job::PromptAnalyzer::1', 'buttons of shortened prompts'],
    ['173f00aa11', 'other buttons'],
  ])('of a button is its operation: %s is %s', (customId, name) => {
    expect(operationOf(customId)).toBe(name);
  });

  it('of a text is its endpoint and model, of an image its endpoint', () => {
    const fields = { model: 'text-pro' };
    expect(kindOfRequest({ kind: 'generate', fields })).toBe('text-pro');
    expect(kindOfRequest({ kind: 'chat', fields })).toBe('text-pro (chat)');
    expect(kindOfRequest({ kind: 'edit', fields: {} })).toBe('edits');
  });

  it('of a button that nobody has seen is that of its branch, once one of it was pressed', () => {
    const kinds = new Kinds();
    const click = (button?: string) => ({
      record: imagineRecord({
        kind: 'click',
        request: { kind: 'click', press: [], fields: {} },
        origin: { cell: 1, step: 'grid', branch: 'U1', slot: 's' },
      }),
      ...(button && { fresh: { button: { customId: button, label: 'U1', emoji: '' } } }),
    });
    expect(kinds.of(click())).toBeUndefined();
    kinds.onSent(click('MJ::JOB::upsample::1::0'));
    expect(kinds.of(click())?.name).toBe('U1–U4');
  });

  it('compares refusals without numbers, ids and quoted words', () => {
    expect(withoutParticulars('400: prompt "a fox" of task 17 (id req-9f8e) is wrong')).toBe(
      withoutParticulars('400: prompt "an owl" of task 981 (id req-11aa) is wrong'),
    );
    expect(withoutParticulars('当前账号不支持编辑 12')).toBe(withoutParticulars('当前账号不支持编辑 7'));
    expect(withoutParticulars("don't do a, don't do b")).toBe("don't do a, don't do b");
  });

  it('closes at the twentieth equal refusal in a row, whatever number is in it', () => {
    const note = edits();
    for (let n = 1; n < refusalsInARow; n++) expect(note(refused(`400: bad prompt ${n}`))).toBeUndefined();
    expect(note(refused('400: other'))).toBeUndefined();
    for (let n = 1; n < refusalsInARow; n++) expect(note(refused(`400: bad prompt ${n}`))).toBeUndefined();
    expect(note({ kind: 'served' })).toBeUndefined();
    for (let n = 1; n < refusalsInARow; n++) expect(note(refused(`400: bad prompt ${n}`))).toBeUndefined();
    expect(note(refused('400: bad prompt 20'))).toMatchObject({ code: 'route.refused' });
  });

  it.each([
    { kind: 'served' },
    busy,
    { kind: 'trouble', reason: '500' },
    { kind: 'unreachable', reason: 'r' },
  ])('begins to count equal refusals again after $kind', (signal) => {
    const note = edits();
    for (let n = 1; n < refusalsInARow; n++) note(refused('400: no'));
    note(signal as RouteSignal);
    expect(note(refused('400: no'))).toBeUndefined();
  });

  it('does not count a refusal without words, which says nothing new, and counts on after it', () => {
    const note = edits();
    for (let n = 1; n < refusalsInARow; n++) note(refused('w'));
    for (let n = 0; n <= refusalsInARow; n++) expect(note({ kind: 'refused' })).toBeUndefined();
    expect(note(refused('w'))).toMatchObject({ code: 'route.refused' });
  });

  it('counts a task that failed once, however often it is reported, also beside another one', () => {
    const kind = new KindState('imagine', 'submit');
    const fails = (id: string) => kind.taskEnded(id, 'no');
    for (let n = 0; n < refusalsInARow; n++) for (const id of ['1', '2']) expect(fails(id)).toBeUndefined();
    expect(kind.failedInARow).toBe(2);
    for (let n = 3; n < refusalsInARow; n++) expect(fails(`${n}`)).toBeUndefined();
    expect(fails('20')).toMatchObject({ code: 'tasks.failing' });
  });

  it('closes at the first answer that it is not offered, unless it was ever served', () => {
    const words = '400: 当前账号不支持编辑';
    expect(edits()(refused(words, 'not-offered'))).toMatchObject({ code: 'service.not-offered' });
    expect(edits(true)(refused(words, 'not-offered'))).toBeUndefined();
    const note = edits();
    note({ kind: 'served' });
    expect(note(refused(words, 'not-offered'))).toBeUndefined();
  });

  it('closes at two answers of no channel a minute apart, while others are served', () => {
    const note = edits();
    expect(note(noChannel, { others: 3 })).toBe('alone');
    expect(note(noChannel, { others: 3, at: minute - 1 })).toBe('alone');
    expect(note(noChannel, { others: 9, at: minute })).toMatchObject({ code: 'service.no-channel' });
  });

  it('does not close for want of a channel while a job waits that was not asked for, or until five were', () => {
    const note = edits();
    note(noChannel, { others: 3, key: 'a' });
    expect(note(noChannel, { others: 3, at: minute, key: 'c', areMoreWaiting: true })).toBe('alone');
    expect(note(noChannel, { others: 3, at: minute, key: 'b' })).toMatchObject({
      code: 'service.no-channel',
    });

    const large = edits();
    const noted = ['a', 'b', 'c', 'd', 'e'].map((key, at) =>
      large(noChannel, { others: 3, at: at * minute, key, areMoreWaiting: true }),
    );
    expect(noted.slice(0, 4)).toEqual(['alone', 'alone', 'alone', 'alone']);
    expect(noted[4]).toMatchObject({ code: 'service.no-channel' });
  });

  it('does not close for want of a channel by jobs that failed otherwise', () => {
    const note = edits();
    for (const key of ['a', 'b', 'c', 'd']) note(busy, { others: 3, key, areMoreWaiting: true });
    note(noChannel, { others: 3, key: 'e', areMoreWaiting: true });
    for (const key of ['f', 'g', 'h']) note(busy, { others: 3, key, areMoreWaiting: true });
    expect(note(noChannel, { others: 3, at: minute, key: 'e', areMoreWaiting: true })).toBe('alone');
  });

  it('that was served closes after the patience where only few others were served meanwhile', () => {
    const note = edits();
    note({ kind: 'served' });
    note(busy, { others: 3 });
    expect(note(busy, { others: 6, at: minute })).toBeUndefined();
    expect(note(busy, { others: 6, at: 2 * minute })).toBe('alone');
    expect(note(busy, { others: 6, at: 60 * minute })).toMatchObject({ code: 'kind.unserved' });
  });

  it.each([
    ['it was served before, and others are', true, 5, 'alone'],
    ['nobody is served', false, 0, undefined],
  ])('waits as for a 503 for want of a channel where %s', (_, wasServed, others, noted) => {
    const note = edits(wasServed);
    expect(note(noChannel, { others })).toBe(noted);
    expect(note(noChannel, { others: 2 * others, at: 2 * minute })).toBe(noted);
  });

  it('says no more of itself alone than of its route once nothing else is asked for', () => {
    const note = edits(true);
    expect(note(noChannel, { others: 5 })).toBe('alone');
    expect(note(noChannel, { others: 5, at: 2 * minute })).toBeUndefined();
  });

  it('closes at the second answer in a row that no money is left', () => {
    const note = edits();
    expect(note(quota)).toBe('alone');
    note({ kind: 'served' });
    expect(note(quota)).toBe('alone');
    expect(note(quota)).toMatchObject({ code: 'service.quota' });
  });

  it('rests by itself after five failures in which others were served, ever longer', () => {
    const kind = new KindState('pan', 'submit');
    const note = told(kind);
    for (let n = 0; n < 4; n++) note(busy, { others: n * 2 });
    expect(kind.restsUntil).toBeUndefined();
    expect(note(busy, { others: 8 })).toBe('alone');
    expect(kind.restsUntil).toBe(1000);
    expect(note(busy, { others: 9, at: 1000 })).toBe('alone');
    expect(kind.restsUntil).toBe(3000);
    note({ kind: 'served' }, { at: 3000 });
    expect(kind.restsUntil).toBeUndefined();
  });

  it('of a text leaves its rest to its lane', () => {
    const kind = new KindState('text-pro', 'text');
    const note = told(kind);
    for (let n = 0; n < 9; n++) note(busy, { others: n * 2 });
    expect([kind.restsUntil, kind.isRefusedAlone]).toEqual([undefined, true]);
  });

  it('counts what was served, and the results of jobs that were not deferred before', () => {
    const kind = new KindState('edits', 'submit');
    const note = told(kind);
    expect(kind.tally).toEqual({ served: 0, firsts: 0, firstsServed: 0 });
    note({ kind: 'served' });
    for (const _ of [1, 2]) note({ kind: 'served' }, { isFirst: false });
    note({ kind: 'trouble', reason: '500' });
    note(refused('w'), { isFirst: false });
    expect(kind.tally).toEqual({ served: 3, firsts: 2, firstsServed: 1 });
  });

  it('closes when it was not served for timeouts.task while others were', () => {
    const note = edits();
    note(busy, { key: 'a' });
    expect(note(busy, { others: 9, at: 20 * minute - 1, key: 'b' })).toBe('alone');
    expect(note(busy, { others: 9, at: 20 * minute, key: 'b' })).toMatchObject({ code: 'kind.unserved' });
    const alone = edits();
    alone(busy, { key: 'a' });
    expect(alone(busy, { at: 40 * minute, key: 'b' })).toBeUndefined();
  });

  it('is refused alone once others are served, and where it was served, once they are again and again', () => {
    const never = edits();
    expect(never(busy)).toBeUndefined();
    expect(never(busy, { others: 1 })).toBe('alone');
    const served = edits();
    served({ kind: 'served' });
    const noted = [1, 4, 7, 10].map((others) => served(busy, { others }));
    expect([noted[0], noted.at(-1)]).toEqual([undefined, 'alone']);
    const besideNobody = edits();
    besideNobody({ kind: 'served' });
    for (let n = 0; n < 9; n++) expect(besideNobody(busy, { others: 4 })).toBeUndefined();
  });

  it('does not close for one job that is put off while it is served itself', () => {
    const note = edits();
    note({ kind: 'served' });
    note(busy);
    expect(note(busy, { others: 3, at: 40 * minute })).toBeUndefined();
  });
});
