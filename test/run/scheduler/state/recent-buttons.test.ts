import { expect, it } from 'vitest';
import { RecentButtons, shownMs } from '../../../../src/run/scheduler/state/recent-buttons.ts';
import type { Task } from '../../../../src/service/image-service.ts';

const buttons = [{ customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' }];
const task = (id: string, changes: Partial<Task> = {}): Task => ({
  id,
  state: 'success',
  status: 'SUCCESS',
  buttons,
  ...changes,
});

it('knows the buttons of a finished task for as long as a click may use them', () => {
  const recent = new RecentButtons();
  recent.note(task('1'), 1000);
  expect(recent.read('1', 1000 + shownMs)).toEqual({ buttons, readAt: 1000 });
  expect(recent.read('1', 1001 + shownMs)).toBeUndefined();
  // The clock was set back.
  expect(recent.read('1', 999 - shownMs)).toBeUndefined();
  expect(recent.read('2', 1000)).toBeUndefined();
});

it('uses the buttons shown last', () => {
  const recent = new RecentButtons();
  const others = [{ customId: 'IMG::JOB::reroll::0::x', label: '', emoji: '🔄' }];
  recent.note(task('1'), 1000);
  recent.note(task('1', { buttons: others }), 2000);
  expect(recent.read('1', 2000 + shownMs)).toEqual({ buttons: others, readAt: 2000 });
});

it('forgets all buttons once one that was shown is refused for another', () => {
  const recent = new RecentButtons();
  recent.note(task('1'), 1000);
  recent.distrust();
  recent.note(task('2'), 1000);
  expect([recent.read('1', 1000), recent.read('2', 1000)]).toEqual([undefined, undefined]);
});

it.each<[string, Partial<Task>]>([
  ['is not finished', { state: 'unfinished' }],
  ['waits for its modal', { state: 'modal' }],
  ['failed', { state: 'failure' }],
  ['shows no button', { buttons: [] }],
])('takes no buttons from a task that %s', (_what, changes) => {
  const recent = new RecentButtons();
  recent.note(task('1'), 1000);
  recent.note(task('1', changes), 1000);
  expect(recent.read('1', 1000)).toBeUndefined();
});

it('stores the last 512 tasks at most', () => {
  const recent = new RecentButtons();
  for (let id = 0; id < 1000; id += 1) recent.note(task(String(id)), 1000);
  const known = Array.from({ length: 1000 }, (_, id) => recent.read(String(id), 1000) !== undefined);
  expect(known.indexOf(true)).toBe(488);
  expect(known.filter(Boolean)).toHaveLength(512);
});
