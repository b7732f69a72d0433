import type { SaveFailure } from '../../../src/artifacts/writer.ts';
import type { FetchReason, Job, JobStep, ReplyVerdict } from '../../../src/run/machine/job.ts';
import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceFailure } from '../../../src/service/result.ts';
import { failure } from '../../rig/failure.ts';
import { gridButtons } from '../../rig/fake-task.ts';
import { framesOf } from '../../rig/frames.ts';
import { clickRecord, epoch, imagineRecord, job, textRecord } from '../../rig/jobs.ts';
import { transition } from '../../rig/transition.ts';
import { submitting } from './machine-rig.ts';

export const buttons = gridButtons(1).map(({ customId, label, emoji }) => ({ customId, label, emoji }));
export const task = (changes: Partial<Task>): Task => ({
  id: 'T9',
  state: 'unfinished',
  status: 'IN_PROGRESS',
  buttons: [],
  ...changes,
});
export const running = (changes = {}): Job =>
  job(imagineRecord({ status: 'running', attempts: 1, taskId: 'T9', submittedAt: epoch, ...changes }), {
    nextRequest: { kind: 'answer' },
  });

const canAnswerModal = {
  kind: 'click',
  request: { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: { prompt: 'a hat' } },
} as const;
/** Its modal was sent. */
const answering = (): Job =>
  job(
    clickRecord({
      ...canAnswerModal,
      status: 'submitting',
      attempts: 1,
      submittedAt: epoch,
      taskId: 'M1',
      modal: { taskId: 'M1', sent: 1 },
    }),
    { nextRequest: { kind: 'answer' } },
  );

export const saving = (): Job =>
  job(imagineRecord({ status: 'saving', taskId: 'T9', result: { imageUrl: 'https://i/1', buttons } }), {
    nextRequest: { kind: 'answer' },
  });

/** What the machine's comment calls the jobs of its table. */
export const jobs: Readonly<Record<string, Job>> = {
  pending: job(imagineRecord()),
  'pending (click)': job(clickRecord()),
  'pending (text)': job(textRecord()),
  'pending (in doubt)': job(imagineRecord({ attempts: 1, tries: 1, doubtful: { count: 1, since: epoch } })),
  'in-doubt': job(imagineRecord({ status: 'in-doubt', attempts: 1, doubtful: { count: 1, since: epoch } })),
  submitting: submitting(),
  'submitting (click)': job(clickRecord({ ...canAnswerModal, status: 'submitting', attempts: 1 })),
  'submitting (modal)': answering(),
  'submitting (redo)': submitting({ former: { taskId: 'T1' } }),
  'submitting (text)': job(textRecord({ status: 'submitting', attempts: 1, submittedAt: epoch })),
  running: running(),
  'running (adopted)': running({ named: {} }),
  'running (seed)': running({ seed: true }),
  modal: job({ ...answering().record, status: 'modal', modal: { taskId: 'M1', sent: 0 } }),
  saving: saving(),
  'saving (split)': { ...saving(), record: { ...saving().record, split: true } },
  'saving (seed)': { ...saving(), record: { ...saving().record, seed: true } },
};
const used = (from: Job): Job => ({ ...from, misses: 5, record: { ...from.record, tries: 5 } });
const requesting = (from: Job, nextRequest: Job['nextRequest']): Job => ({ ...from, nextRequest });
const fetching = (from: Job, why: FetchReason): Job => requesting(from, { kind: 'fetch', taskId: 'T1', why });
const source = { url: 'https://i/1', media: 'image' } as const;
const shown = task({ state: 'success', status: 'SUCCESS', imageUrl: 'https://i/1', buttons });
const unanswered = (status: number) => failure('service.unavailable', 'retry', { status });
const lost = failure('connection.lost', 'lost');
const throttled = failure('service.throttled', 'throttle');
const denied = failure('service.rejected', 'permanent', { status: 400 });
const unread = (kind: SaveFailure['class']): SaveFailure => ({
  code: 'input.missing',
  class: kind,
  message: 'm',
});
const unsaved = (kind: SaveFailure['class']) =>
  ({ ok: false, error: { code: 'download.status', class: kind, message: 'm' } }) as const;
const artifact = { output: 1, file: 'a.png', bytes: 5, sha256: 'h', mime: 'image/png' };
const gridFile = { ...artifact, width: 8, height: 8 };
const withGrid = (from: Job): Job => ({ ...from, record: { ...from.record, artifacts: [gridFile] } });
const reply = (verdict: ReplyVerdict) =>
  ({ kind: 'answered', asked: { verdict, text: { candidates: [] }, artifacts: [] } }) as const;
const wrong = { code: 'text.schema' as const, message: 'wrong' };
const refusedAsk = (error: ServiceFailure) => ({ kind: 'refused', error }) as const;

/** What the machine's comment calls the events of its table. */
export const events: Readonly<Record<string, (from: Job) => JobStep>> = {
  'granted task-slot': (from) => transition(requesting(from, { kind: 'task-slot' })).granted(),
  'granted task-slot, button shown lately': (from) =>
    transition(requesting(from, { kind: 'task-slot' }), {
      buttonsOf: () => ({ buttons, readAt: epoch }),
    }).granted(),
  'granted mask': (from) => transition(requesting(from, { kind: 'mask' })).granted(),
  'granted fetch': (from) => transition(fetching(from, 'poll')).granted(),
  'granted search': (from) => transition(requesting(from, { kind: 'search' })).granted(),
  'granted submit': (from) => transition(requesting(from, { kind: 'submit' })).granted(),
  'granted modal': (from) => transition(requesting(from, { kind: 'modal' })).granted(),
  'granted save': (from) => transition(requesting(from, { kind: 'save', source, output: 1 })).granted(),
  'granted ask': (from) => transition(requesting(from, { kind: 'ask' })).granted(),
  'rest elapsed': (from) =>
    transition(requesting(from, { kind: 'wait', until: epoch, next: { kind: 'submit' } })).elapsed(),
  'mask fits': (from) => transition(from).masked(),
  'mask fits, button shown lately': (from) =>
    transition(from, { buttonsOf: () => ({ buttons, readAt: epoch }) }).masked(),
  'mask unreadable': (from) => transition(from).masked(unread('permanent')),
  'parent shown': (from) => transition(from).fetched('parent', shown),
  'button missing': (from) => transition(from).fetched('parent', { ...shown, buttons: [] }),
  'parent not shown': (from) => transition(from).fetched('parent', lost),
  'parent failed': (from) =>
    transition(from).fetched('parent', task({ state: 'failure', status: 'FAILURE' })),
  'task found': (from) => transition(from).searched([task({})]),
  'no task found': (from) => transition(from).searched([]),
  'no task found after the last try': (from) =>
    transition({ ...from, record: { ...from.record, tries: 6, error: wrong } }).searched([]),
  'search failed': (from) => transition(from).searched(lost),
  accepted: (from) => transition(from).submitted({ kind: 'accepted', taskId: '42', code: 1 }),
  'modal opened': (from) => transition(from).submitted({ kind: 'modal', taskId: '42', code: 21 }),
  'queue full': (from) => transition(from).submitted({ kind: 'queue-full', code: 23, message: 'full' }),
  429: (from) => transition(from).submitted(throttled),
  'refused by code': (from) => transition(from).submitted({ kind: 'refused', code: 24, message: 'no' }),
  'button refused': (from) =>
    transition({
      ...from,
      fresh: { button: { customId: 'c', label: 'U1', emoji: '' }, readAt: epoch },
    }).submitted({ kind: 'refused', code: 4, message: 'no' }),
  400: (from) => transition(from).submitted(denied),
  'connection refused': (from) => transition(from).submitted(failure('connection.refused', 'unsent')),
  'run must stop': (from) => transition(from).submitted(failure('service.unauthorized', 'stop')),
  'no answer': (from) => transition(from).submitted(lost),
  'no answer (--in-doubt find)': (from) => transition(from, { unconfirmedSearchInMs: 5000 }).submitted(lost),
  'no answer (--in-doubt retry)': (from) => transition(from, { retryInDoubt: true }).submitted(lost),
  500: (from) => transition(from).submitted(unanswered(500)),
  503: (from) => transition(from).submitted(unanswered(503)),
  '500 to the last try': (from) => transition(used(from)).submitted(unanswered(500)),
  '503 to the last try': (from) => transition(used(from)).submitted(unanswered(503)),
  'not sent': (from) => transition(from).unsent(),
  'input busy': (from) => transition(from).unread(unread('retry')),
  'input unreadable': (from) => transition(from).unread(unread('permanent')),
  unfinished: (from) => transition(from).fetched('poll', task({})),
  'task of another job': (from) =>
    transition(from, { rivals: () => [imagineRecord({ key: 'ee55' })] }).fetched(
      'poll',
      task({ tag: 'ee55' }),
    ),
  'past the deadline': (from) => transition(from, { now: epoch + 9_000_000 }).fetched('poll', task({})),
  'task unknown to the last try': (from) =>
    transition(used(from)).fetched('poll', failure('service.task-unknown', 'retry', { status: 404 })),
  'poll failed': (from) => transition(from).fetched('poll', lost),
  success: (from) => transition(from).fetched('poll', shown),
  'success, nothing kept': (from) =>
    transition({ ...from, record: { ...from.record, keep: false } }).fetched('poll', shown),
  'waits for its modal': (from) =>
    transition({ ...from, record: { ...from.record, ...canAnswerModal } }).fetched(
      'poll',
      task({ state: 'modal', status: 'MODAL' }),
    ),
  'failure that may pass': (from) =>
    transition(from).fetched('poll', task({ state: 'failure', status: 'FAILURE', failReason: 'timeout' })),
  failure: (from) => transition(from).fetched('poll', task({ state: 'failure', status: 'FAILURE' })),
  'still MODAL': (from) => transition(from).fetched('modal', task({ state: 'modal', status: 'MODAL' })),
  'still MODAL after the lag': (from) =>
    transition({ ...from, pollUntil: epoch }).fetched('modal', task({ state: 'modal', status: 'MODAL' })),
  'task moved on': (from) => transition(from).fetched('modal', task({})),
  saved: (from) => transition(from).saved({ ok: true, value: artifact }),
  'grid saved': (from) => transition(from).saved({ ok: true, value: gridFile }),
  'granted cut': (from) => transition(requesting(from, { kind: 'cut' })).granted(),
  cut: (from) => transition(withGrid(from)).cut({ ok: true, value: framesOf('aa11', gridFile) }),
  'file cannot be cut': (from) => transition(withGrid(from)).cut(unsaved('permanent')),
  'frames not written': (from) => transition(withGrid(from)).cut(unsaved('stop')),
  'granted seed': (from) => transition(requesting(from, { kind: 'seed', taskId: 'T9' })).granted(),
  'seed read': (from) => transition(withGrid(from)).seed('77'),
  'seed not read': (from) => transition(withGrid(from)).seed(lost),
  'seed not read to the last try': (from) => transition(used(withGrid(from))).seed(lost),
  'no seeds told': (from) => transition(withGrid(from)).seed(failure('service.not-offered', 'permanent')),
  'save deferred': (from) => transition(from).saved(unsaved('throttle')),
  'disk full': (from) => transition(from).saved(unsaved('stop')),
  'save failed once': (from) => transition(from).saved(unsaved('retry')),
  'save failed twice': (from) => transition({ ...from, misses: 1 }).saved(unsaved('retry')),
  'save failed to the last try': (from) => transition(used(from)).saved(unsaved('retry')),
  'link outdated': (from) => transition(from).saved(unsaved('fresh-link')),
  'file refused': (from) => transition(from).saved(unsaved('permanent')),
  'link shown': (from) => transition(from).fetched('link', shown),
  'no link shown': (from) => transition(from).fetched('link', task({})),
  'reply accepted': (from) => transition(from).asked(reply({ kind: 'done' })),
  'functions called': (from) => transition(from).asked(reply({ kind: 'calls', turns: [] })),
  'reply invalid': (from) => transition(from).asked(reply({ kind: 'invalid', error: wrong })),
  'reply invalid to the last try': (from) =>
    transition({ ...from, record: { ...from.record, invalid: 2 } }).asked(
      reply({ kind: 'invalid', error: wrong }),
    ),
  'reply refused': (from) => transition(from).asked(reply({ kind: 'failed', error: wrong })),
  'call 429': (from) => transition(from).asked(refusedAsk(throttled)),
  'call lost': (from) => transition(from).asked(refusedAsk(lost)),
  'call lost to the last try': (from) => transition(used(from)).asked(refusedAsk(lost)),
  'call 400': (from) => transition(from).asked(refusedAsk(denied)),
  'reply not written': (from) => transition(from).asked({ kind: 'unwritten', error: unread('permanent') }),
};

/** The result in the words of the table: the request sent, the next request, at once or after a rest, or nothing. */
export function nextOf({ job: { nextRequest }, send }: JobStep): string {
  const named = (one: Job['nextRequest']): string => (one.kind === 'fetch' ? `fetch ${one.why}` : one.kind);
  if (send !== undefined) return `send ${send.kind}`;
  if (nextRequest.kind === 'nothing') return '';
  return nextRequest.kind === 'wait' ? `rest, ${named(nextRequest.next)}` : named(nextRequest);
}
