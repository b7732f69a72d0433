import type { Selection } from '../plan/cell.ts';
import { invocationFact, type StateStore, sentFact } from '../state/store.ts';
import { Engine } from './engine.ts';
import type { RunListener } from './events.ts';
import { forgetLearned, keepFact, LearnedKeeper, readLearned } from './limits/learned.ts';
import type { RunControl, RunPlan, RunPorts, RunReport, RunSettings } from './ports.ts';
import { Scheduler } from './scheduler/scheduler.ts';

/** Returns the number of a state's next run, from 1. It tells the jobs settled by this run from others, whatever the clock says. */
export function nextInvocation(store: Pick<StateStore, 'fact'>): number {
  const last = Number(store.fact(invocationFact) ?? 0);
  return Number.isSafeInteger(last) ? last + 1 : 1;
}

/** Returns the recent sends of earlier runs. */
export function sentBefore(store: Pick<StateStore, 'fact'>): { readonly sent?: string } {
  const sent = store.fact(sentFact);
  return sent === undefined ? {} : { sent };
}

/**
 * Runs a plan, or continues it: feeds the scheduler, makes each turn durable as one transaction, then sends the requests of the turn.
 * Resolves when nothing is left to do, when the run must stop, or when the user ends it. After a disk failure or a bug the run sends
 * nothing more, waits for the paid requests, and tries once more to make everything durable.
 *
 * @throws Error beginning `Internal error:` for a bug; a failing disk or service is a `RunEnd`
 */
export async function runPlan(
  plan: RunPlan,
  selection: Selection,
  settings: RunSettings,
  ports: RunPorts,
  control: RunControl,
  listener: RunListener,
): Promise<RunReport> {
  const { store, clock } = ports;
  const startedAt = clock.now();
  const { others } = store;
  const invocation = others?.invocation ?? nextInvocation(store);
  const spent = store.totals();
  if (settings.relearn) await forgetLearned(store);
  const scheduler = new Scheduler({
    settings,
    startedAt,
    invocation,
    random: ports.random,
    resolve: (cell, lookup, isOwn) => plan.resolve(cell, lookup, isOwn),
    ...(plan.gathers && { gathers: plan.gathers }),
    lookup: (key) => store.get(key),
    redo: (key) => store.redos.of(key),
    price: (record) => plan.price(record),
    spent,
    ...sentBefore(store),
    tellsLeaving: true,
    learned: settings.relearn ? {} : readLearned(store),
    ...(plan.steps === undefined ? {} : { steps: plan.steps }),
    ...(ports.address === undefined ? {} : { address: ports.address }),
    ...(ports.shared === undefined ? {} : { shared: ports.shared }),
    ...(others === undefined ? {} : { others }),
  });
  const learned = new LearnedKeeper(store, () => scheduler.learned, clock);
  const engine = new Engine(plan, selection, settings, ports, scheduler, listener, () => learned.due());
  const end = await engine.run(control);
  if (end.kind !== 'disk') {
    await learned.onEnd();
    const { sent, submits } = scheduler;
    // The last commit was made before its requests were sent.
    if (sent !== undefined && submits > 0) await keepFact(store, sentFact, sent);
  }
  const { listenerError } = engine;
  return {
    end,
    submits: scheduler.submits,
    tokens: scheduler.tokens,
    redosFailed: scheduler.redosFailed,
    startedAt,
    finishedAt: clock.now(),
    ...(listenerError === undefined ? {} : { listenerError }),
  };
}
