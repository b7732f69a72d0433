import type { JobRecord } from '../../plan/job.ts';
import type { Committed, LateFact } from '../../state/store.ts';
import type { SliceEnd } from '../events.ts';
import type { Job } from '../machine/job.ts';
import { factDecided, factOf, heardOf } from '../machine/search/late-fact.ts';
import { tokensUsed } from '../machine/text-call.ts';
import type { CellBatch, Hold, LeftRecord, SliceBatch } from '../ports.ts';
import {
  type Effect,
  type HeldByOthers,
  isPaid,
  isSameHold,
  type RunCommit,
  type RunInput,
  routeOf,
} from './commit.ts';
import { leaveCell } from './drain.ts';
import { adoptJob, releaseCells } from './place-job.ts';
import type { SchedulerState } from './state/state.ts';

/**
 * What a run on several machines adds to one on a single machine. A worker holds slices of the cells under epochs that only the
 * store compares. What it decides for a slice that somebody has taken over, or for a key that another slice wrote first, is never
 * written, and what was to follow is never sent.
 *
 * - A slice is held from the very input that adopts what it was left with: no cell can find such a job before.
 * - A slice that is lost is forgotten at once. What is paid and under way is heard out, and kept as a fact.
 * - A slice is closed once all its cells are closed and none of its jobs is under way. One that only waits is given back.
 */

/** How long a slice only waits for others before it is given back, ms. */
const waitMs = 2000;

/** Cells were given: of a slice, after what it was left with. */
export function giveCells(state: SchedulerState, { cells, of, last }: CellBatch): void {
  const { slices } = state;
  const before = of && slices.of(of.slice);
  // The worker is given again what it has lost without a word.
  if (before !== undefined && before.epoch !== of?.epoch) loseSlice(state, holdOf(before));
  if (of !== undefined) takeSlice(state, of, cells);
  state.cells.incoming.push(...cells);
  state.cells.areAllGiven = last;
}

const holdOf = ({ slice, epoch }: Hold): Hold => ({ slice, epoch });

function takeSlice(state: SchedulerState, of: SliceBatch, cells: CellBatch['cells']): void {
  const held = state.slices.hold(of.slice, of.epoch);
  const hold = holdOf(of);
  for (const left of of.left ?? []) adoptLeft(state, left, hold);
  state.slices.give(cells, held);
  held.isWhole = of.isWhole;
}

/** Takes up what a slice was left with. */
function adoptLeft(state: SchedulerState, { record, sender, heard }: LeftRecord, hold: Hold): void {
  // A cell of another slice has begun the job without knowing of this one; nothing of that is durable, nor will be.
  const begun = state.jobs.get(record.key);
  if (begun !== undefined) forgetJob(state, begun);
  if (heard !== undefined && record.status === 'in-doubt') return hear(state, heard, hold);
  if (record.status === 'pending' || record.status === 'in-doubt') return;
  const isSending = record.status === 'submitting' && sender !== undefined;
  adoptJob(state, isSending ? { ...record, sender } : record, hold);
  if (heard !== undefined) hear(state, heard, hold);
}

/** A late fact ends a doubt. */
function hear(state: SchedulerState, fact: LateFact, slice: Hold): void {
  const { lookup, jobs, outbox, options, budget } = state;
  const record = lookup(fact.key);
  if (record === undefined || jobs.get(fact.key) !== undefined) return;
  const known = heardOf(record, fact, options.price(record));
  if (known === undefined) return;
  const hold = state.slices.decidedFor(slice, fact.key);
  budget.note(record, known);
  outbox.write(known, hold);
  outbox.emitStatus(record, known);
  if (known.status === 'running') adoptJob(state, known, hold);
}

/** Others hold a part of a commit: what was decided of it here is forgotten. */
export function onRefused(
  state: SchedulerState,
  { commit, others }: Extract<RunInput, { type: 'refused' }>,
): void {
  for (const hold of others.lost) loseSlice(state, hold, commit);
  for (const key of others.refused) {
    const hold = commit.holds?.get(key);
    for (const effect of commit.effects) if (isOf(effect, key)) unsend(state, effect);
    const job = state.jobs.get(key);
    // A cell may be closed because of what is not so.
    if (job === undefined) lookAgain(state);
    // The slice that wrote the key first may be held here by now.
    if (job !== undefined && hold !== undefined && isSameHold(job.hold, hold)) forgetJob(state, job);
    else releaseCells(state, key);
  }
}

/** No slice is closed before its cells were resolved once more. */
function lookAgain({ slices }: SchedulerState): void {
  for (const held of slices.held) held.looksAgain = true;
}

const isOf = ({ job, send }: Effect, key: string): boolean => send.kind !== 'list' && job.record.key === key;

/** Forgets a job that another slice holds. Its cells look again. */
function forgetJob(state: SchedulerState, { record: { key }, hold }: Job): void {
  if (hold !== undefined) for (const effect of state.outbox.forget(key, hold)) unsend(state, effect);
  state.jobs.drop(key);
  state.slices.sent.delete(key);
  releaseCells(state, key);
}

/** An effect never leaves. */
function unsend({ routes, budget, now }: SchedulerState, effect: Effect): void {
  const { job, send } = effect;
  const { record } = job;
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onResult(route, record.key);
  if (send.kind === 'ask') routes.tokens.settle(record.key, 0, now);
  if (isPaid(effect)) budget.note(record, { ...record, status: 'pending', attempts: record.attempts - 1 });
}

/**
 * Forgets a slice that somebody else has taken over.
 *
 * @param commit that was not written for it, or whose effects must not leave any more
 */
export function loseSlice(state: SchedulerState, hold: Hold, commit?: RunCommit): void {
  const { slices, jobs, cells, outbox } = state;
  const isMine = (one: { readonly hold?: Hold }): boolean => isSameHold(one.hold, hold);
  const effects = (commit?.effects ?? []).filter(({ job, send }) => isMine(job) && send.kind !== 'list');
  for (const effect of effects) unsend(state, effect);
  const taken = new Map(
    (commit?.records ?? [])
      .filter(({ key }) => isSameHold(commit?.holds?.get(key), hold))
      .map((record) => [record.key, record] as const),
  );
  const active = [...jobs.all()].filter(isMine).map(({ record }) => record.key);
  for (const key of new Set([...taken.keys(), ...active, ...outbox.keysOf(hold)])) {
    const job = jobs.get(key);
    const record = outbox.record(key) ?? job?.record ?? taken.get(key);
    const unsent = [...effects.filter((effect) => isOf(effect, key)), ...outbox.forget(key, hold)];
    for (const effect of unsent) if (!effects.includes(effect)) unsend(state, effect);
    for (const fact of factsOf(state, key, record, unsent)) outbox.hear(fact);
    slices.sent.delete(key);
    if (job !== undefined && isMine(job)) jobs.drop(key);
    if (job === undefined || isMine(job)) releaseCells(state, key);
  }
  if (slices.heldAs(hold) === undefined) return;
  cells.incoming = cells.incoming.filter((cell) => slices.holdOf(cell)?.slice !== hold.slice);
  for (const open of cells.open.all()) if (isMine(open)) leaveCell(state, open);
  cells.due = cells.due.filter((open) => !isMine(open));
  slices.drop(hold.slice);
  slices.ending.add(hold);
  lookAgain(state);
}

/** What is certain of the submissions of a job whose slice is lost. What is under way is heard later. */
function factsOf(
  { slices }: SchedulerState,
  key: string,
  record: JobRecord | undefined,
  unsent: readonly Effect[],
): readonly LateFact[] {
  const never = unsent.flatMap(({ job: { record: intent }, send }) =>
    send.kind === 'submit' && intent.submittedAt !== undefined
      ? [{ key, submittedAt: intent.submittedAt }]
      : [],
  );
  const submittedAt = slices.sent.get(key);
  const isUnderWay = [...slices.paid].some((effect) => isOf(effect, key));
  const decided =
    submittedAt === undefined || record === undefined || isUnderWay
      ? undefined
      : factDecided(record, submittedAt);
  return decided === undefined ? never : [...never, decided];
}

/** The part of a commit that others hold: what the store says, and what was lost while the commit was written. */
export function othersOf(
  { slices }: SchedulerState,
  { holds = new Map() }: RunCommit,
  { refused, lost }: Committed = nobody,
): HeldByOthers {
  const gone = new Map<number, Hold>();
  for (const hold of holds.values())
    if (lost.has(hold.slice) || slices.heldAs(hold) === undefined) gone.set(hold.slice, hold);
  return { refused, lost: [...gone.values()] };
}

const nobody: Committed = { refused: new Set(), lost: new Set() };

/** A commit is not durable, and is part of the next one: but for what was lost meanwhile. */
export function onRequeued(state: SchedulerState, { holds = new Map() }: RunCommit): void {
  for (const hold of new Set<Hold>(holds.values()))
    if (state.slices.heldAs(hold) === undefined) loseSlice(state, hold);
}

/** A request for a slice has its result. @returns false where the slice was lost meanwhile: nothing follows from it */
export function onResultFor(
  state: SchedulerState,
  { effect, input }: Extract<RunInput, { type: 'result' }>,
): boolean {
  const { slices, routes, outbox, now } = state;
  const { job, send } = effect;
  slices.paid.delete(effect);
  const isHeld = job.hold === undefined || slices.heldAs(job.hold) !== undefined;
  if (isHeld || send.kind === 'list') return true;
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onResult(route, job.record.key);
  if (input.type === 'asked') routes.tokens.settle(input.key, tokensUsed(input.result), now);
  if (send.kind !== 'submit') return false;
  const { key, submittedAt } = job.record;
  const fact =
    input.type === 'submitted'
      ? factOf(job.record, input.result)
      : input.type === 'unread' && submittedAt !== undefined
        ? { key, submittedAt }
        : undefined;
  if (fact !== undefined) outbox.hear(fact);
  return false;
}

/** The effects of a commit leave; what was decided before is durable. */
export function onSent({ slices }: SchedulerState, { records, effects }: RunCommit): void {
  for (const { key, status, submittedAt } of records)
    if (status !== 'submitting' || submittedAt !== slices.sent.get(key)) slices.sent.delete(key);
  for (const effect of effects) {
    const { job, send } = effect;
    if (job.hold === undefined || !isPaid(effect)) continue;
    slices.paid.add(effect);
    if (send.kind === 'submit' && job.record.submittedAt !== undefined)
      slices.sent.set(job.record.key, job.record.submittedAt);
  }
}

/** The jobs of others were read again: cells that wait for them look whether they may go on. */
export function onLooked(state: SchedulerState, heard: readonly LateFact[]): void {
  const { slices, cells, lookup } = state;
  for (const fact of heard) {
    const hold = cells.open.awaiting(fact.key).find((open) => open.hold !== undefined)?.hold;
    if (hold !== undefined) hear(state, fact, hold);
  }
  for (const key of slices.awaited) {
    const record = lookup(key);
    if (state.jobs.get(key) === undefined && record !== undefined && slices.isOthers(record)) continue;
    slices.awaited.delete(key);
    releaseCells(state, key);
  }
}

/** Ends the slices that are closed, that only wait, or of which the last result was heard. */
export function endSlices(state: SchedulerState): void {
  const { slices, jobs, lifecycle, now } = state;
  if (slices.held.length === 0 && slices.ending.size === 0) return;
  for (const hold of slices.ending) if (!slices.isHearing(hold)) end(state, hold, 'lost');
  for (const held of slices.held) {
    if (!held.isWhole || lifecycle.isHalted) continue;
    const isIdle = (): boolean => [...jobs.all()].every(({ hold }) => hold?.slice !== held.slice);
    if (held.cells === 0) {
      if (isIdle()) end(state, held, held.looksAgain ? 'waits' : 'closed');
    } else if (onlyWaits(state, held) && isIdle()) {
      held.waitsSince ??= now;
      if (now - held.waitsSince >= waitMs) end(state, held, 'waits');
    } else delete held.waitsSince;
  }
}

/** True where all cells of a slice that are left are open, and wait for nothing but jobs of others. */
function onlyWaits(
  { cells, slices }: SchedulerState,
  { slice, cells: left }: { slice: number; cells: number },
) {
  if (slices.awaited.size === 0) return false;
  const open = [...cells.open.all()].filter(({ hold }) => hold?.slice === slice);
  return (
    open.length === left &&
    open.every(({ waiting }) => waiting.size > 0 && [...waiting].every((key) => slices.awaited.has(key)))
  );
}

function end(state: SchedulerState, hold: Hold, how: SliceEnd): void {
  const { slices, cells, outbox } = state;
  const { slice, epoch } = hold;
  if (how === 'waits')
    for (const open of cells.open.all()) if (open.hold?.slice === slice) leaveCell(state, open);
  if (how === 'lost') slices.ending.delete(hold);
  else slices.drop(slice);
  outbox.emit({ type: 'slice:end', slice, epoch, how });
}
