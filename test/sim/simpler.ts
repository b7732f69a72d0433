import { type Invocation, type Scenario, troubledEnds } from './scenario.ts';

const routes = ['submit', 'mask', 'fetch', 'save', 'ask'] as const;

/** Simpler histories, simplest first: a failing one is replaced by the first of these that fails too. */
export function* simpler(scenario: Scenario): Generator<Scenario> {
  if (scenario.cells > 1) {
    yield { ...scenario, cells: 1 };
    yield { ...scenario, cells: Math.ceil(scenario.cells / 2) };
    yield { ...scenario, cells: scenario.cells - 1 };
  }
  if (scenario.kinds.length > 1) yield { ...scenario, kinds: [] };
  for (const at of scenario.kinds.keys()) yield { ...scenario, kinds: scenario.kinds.toSpliced(at, 1) };
  if (scenario.path !== undefined && scenario.kinds.length > 0) {
    const { path: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.path !== undefined && scenario.path !== '') {
    yield { ...scenario, path: '' };
    if (scenario.path !== 'U1') yield { ...scenario, path: 'U1' };
  }
  for (const option of ['split', 'seeds'] as const)
    if (scenario[option]) {
      const { [option]: _, ...rest } = scenario;
      yield rest;
    }
  for (const at of scenario.invocations.keys())
    yield { ...scenario, invocations: scenario.invocations.toSpliced(at, 1) };
  for (const route of routes) if (Object.keys(scenario[route]).length > 1) yield { ...scenario, [route]: {} };
  for (const route of routes)
    for (const kind of Object.keys(scenario[route])) {
      const { [kind as never]: _, ...rest } = scenario[route];
      yield { ...scenario, [route]: rest };
    }
  for (const end of troubledEnds)
    if (scenario.ends[end] > 0) yield { ...scenario, ends: { ...scenario.ends, [end]: 0 } };
  if (scenario.budget !== undefined) {
    const { budget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.costBudget !== undefined) {
    const { costBudget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.tokenBudget !== undefined) {
    const { tokenBudget: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.resultsLag) yield { ...scenario, resultsLag: false };
  if (scenario.calm !== undefined) {
    const { calm: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.lag) yield { ...scenario, lag: false };
  if (scenario.lingers !== 'no') yield { ...scenario, lingers: 'no' };
  if (scenario.windowless !== undefined) {
    const { windowless: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.listing !== 'off') yield { ...scenario, listing: 'off' };
  if (scenario.buttonLifeMs !== undefined) {
    const { buttonLifeMs: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.taskList !== undefined) {
    const { taskList: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.modalLife !== undefined) {
    const { modalLife: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.capacity !== undefined) {
    const { capacity: _, ...rest } = scenario;
    yield rest;
  }
  for (const outcast of ['barred', 'hidden', 'spell', 'outage', 'pauses'] as const)
    if (scenario[outcast] !== undefined) {
      const { [outcast]: _, ...rest } = scenario;
      yield rest;
    }
  if (scenario.lateCommitMs !== undefined) {
    const { lateCommitMs: _, ...rest } = scenario;
    yield rest;
  }
  if (scenario.commitMs > 0) yield { ...scenario, commitMs: 0 };
  for (const rate of ['submitPerMinute', 'textPerMinute', 'tokensPerMinute'] as const)
    if (scenario.limits[rate] !== undefined) {
      const { [rate]: _, ...limits } = scenario.limits;
      yield { ...scenario, limits };
    }
  for (const [at, invocation] of scenario.invocations.entries()) {
    const { retryFailed, inDoubt, gapMs, redo, byFile, sameOrder, cancels, unkept, unsplit, cells, ...rest } =
      invocation;
    const order = { ...(byFile && { byFile }), ...(sameOrder && { sameOrder }) };
    const plain = {
      ...rest,
      ...(redo !== undefined || sameOrder ? order : {}),
      ...(cells !== undefined && { cells }),
      ...(unsplit && { unsplit }),
      ...(cancels && { cancels }),
    };
    if (unsplit) {
      const { unsplit: _, ...all } = invocation;
      yield { ...scenario, invocations: scenario.invocations.with(at, all) };
    }
    const but = (kept: Invocation): Scenario => ({
      ...scenario,
      invocations: scenario.invocations.with(at, kept),
    });
    for (const word of ['byFile', 'sameOrder', 'cancels'] as const)
      if (invocation[word]) {
        const { [word]: _, ...all } = invocation;
        yield but(all);
      }
    if (redo !== undefined) yield but({ ...plain, retryFailed, inDoubt, gapMs, ...(unkept && { unkept }) });
    if (cells !== undefined) {
      const { cells: _, ...all } = invocation;
      yield but(all);
    }
    if (unkept) yield but({ ...plain, retryFailed, inDoubt, gapMs, ...(redo !== undefined && { redo }) });
    const change = (changes: Partial<Invocation>): Scenario => but({ ...invocation, ...changes });
    if (retryFailed) yield change({ retryFailed: false });
    if (inDoubt !== 'hold') yield change({ inDoubt: 'hold' });
    if (gapMs !== 0) yield change({ gapMs: 0 });
  }
}
