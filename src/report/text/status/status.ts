import { basename, relative } from 'node:path';
import { type FailureRules, type IsOptional, isSkipped } from '../../../plan/graph/optional.ts';
import { type CommonMessage, Messages, messageText } from '../../../results/messages.ts';
import { jobsInDoubt, readSums, settledJobs, spentSoFar } from '../../../results/sums.ts';
import { lanesOf, noLimits } from '../../../run/limits/learned-limits.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import type { StateReader } from '../../../state/reader.ts';
import { isOpenOrder } from '../../../state/redo-order.ts';
import { first } from '../../facts/in-doubt.ts';
import type { JsonOutputs, StepCosts, WorkersStatus } from '../../facts/json-outputs.generated.ts';
import { readLearned } from '../../facts/learned.ts';
import type { RunPlace } from '../../facts/place.ts';
import { readHowFar } from '../../facts/planned.ts';
import { readPutBack } from '../../facts/put-back.ts';
import { readRunFacts } from '../../facts/run.ts';
import { StateServices } from '../../facts/services.ts';
import {
  assumedTokenWords,
  count,
  counted,
  durationWords,
  howFarWords,
  leftOutLines,
  money,
  possibleCostWords,
  rateWords,
  sameFilesWords,
  soFarWords,
  span,
  timedOutWords,
  unansweredWords,
} from '../amounts.ts';
import { slotWords } from '../job/mention.ts';
import { inDoubtAdvice, manifestAdvice, setWords, stageAdvice } from '../next-commands.ts';
import { otherServiceLines } from '../other-service.ts';
import { paceWords } from '../pace-words.ts';
import { shownLine } from '../printable.ts';
import { endingWord, slotNumbers } from '../slot-counts.ts';
import { factLines, padEnd, widest } from '../table.ts';
import { readStepCosts, stepCostLines } from './step-costs.ts';

/** The facts of a run directory, as printed by `status --json`. */
export type RunStatus = JsonOutputs['status'];

const maxListed = 20;

/**
 * Reads the facts of a run directory from its state. Reads are short, so that an active run is not delayed.
 *
 * @param stepCosts absent: they are read too, which is slow for many jobs
 */
export async function readStatus(
  place: RunPlace,
  state: StateReader,
  rules: FailureRules,
  io: {
    /** The current folder. */
    readonly cwd: string;
    /** Unix ms. */
    now(): number;
  },
  stepCosts?: readonly StepCosts[],
): Promise<RunStatus> {
  const owner = await place.owner();
  const stage = await place.stage?.();
  const learned = await readLearned(state);
  const facts = await readRunFacts(state);
  const running = owner !== undefined;
  const sums = await readSums(state, running, rules);
  const { jobs, attempts, tokens, codes, doubts } = sums;
  const path = await state.fact(pipelineFacts.path);
  const planned = await readHowFar(state, facts, sums, running ? io.now() : undefined);
  const steps = stepCosts ?? (await readStepCosts(state, running));
  const unanswered = steps.reduce((sum, step) => sum + (step.unanswered ?? 0), 0);
  const others =
    facts === undefined ? [] : await (await StateServices.of(state)).others(facts.serviceId, running);
  const redo = await state.redos.counts();
  const counts = new Map<string, number>();
  for (const [code, number] of [...Object.entries(codes.failed), ...Object.entries(codes['in-doubt'])])
    if (number > 0) counts.set(code, (counts.get(code) ?? 0) + number);
  const reasons: RunStatus['reasons'][number][] = [];
  for (const [code, number] of [...counts].sort(
    ([a, most], [b, more]) => more - most || (a < b ? -1 : a > b ? 1 : 0),
  ))
    reasons.push({
      code,
      count: number,
      ...(await commonMessage(code, state, rules.isOptional)),
      // A job in doubt is never accepted, whatever its code.
      ...(rules.accepted.has(code) && !codes['in-doubt'][code] && { accepted: true }),
    });
  const {
    slots,
    unasked = [],
    sameFiles,
    timedOutAgain,
    leftOut,
  } = owner === undefined ? (facts?.outcome ?? {}) : {};
  const until = facts?.outcome?.finishedAt ?? (owner === undefined ? undefined : io.now());
  return {
    directory: place.name,
    ...(path === undefined ? {} : { file: relative(io.cwd, path) }),
    ...(stage === undefined ? {} : { stage: { state: stage.state, workers: stage.workers, led: stage.led } }),
    running,
    ...(owner === undefined || owner.pid === 0 ? {} : { owner: { pid: owner.pid, host: owner.host } }),
    ...(facts === undefined
      ? {}
      : {
          service: facts.serviceId,
          ...(facts.origin === undefined ? {} : { origin: facts.origin }),
          ...(facts.set === undefined ? {} : { set: facts.set }),
          startedAt: new Date(facts.startedAt).toISOString(),
        }),
    ...(facts?.outcome === undefined
      ? {}
      : {
          finishedAt: new Date(facts.outcome.finishedAt).toISOString(),
          end: facts.outcome.end,
          exitCode: facts.outcome.exitCode,
        }),
    ...(facts === undefined || until === undefined
      ? {}
      : { perMinute: perMinute(settledJobs(sums) - facts.atStart.settled, until - facts.startedAt) }),
    ...(planned === undefined ? {} : { planned }),
    jobs,
    ...(slots === undefined ? {} : { slots }),
    unasked,
    submits: attempts,
    ...spentSoFar(sums),
    tokens,
    ...(unanswered === 0 ? {} : { unanswered }),
    ...(timedOutAgain === undefined ? {} : { timedOutAgain }),
    ...(leftOut === undefined ? {} : { leftOut }),
    ...(isOpenOrder(redo) ? { redo } : {}),
    putBack: await readPutBack(state),
    ...(sameFiles === undefined ? {} : { sameFiles }),
    steps,
    ...(learned === undefined ? {} : { learned }),
    reasons,
    doubts,
    ...(others.length === 0
      ? {}
      : { otherServices: others.map(({ id, ...more }) => ({ service: id, ...more })) }),
    inDoubt: (await first(maxListed, jobsInDoubt(state, running))).map(({ key, origin, error }) => ({
      job: key,
      step: origin.step,
      branch: origin.branch,
      cell: origin.cell,
      code: error?.code ?? 'submit.interrupted',
    })),
  };
}

/** Number of jobs whose messages are read for one code, first by key: status is read often. */
const maxRead = 10_000;

/** Returns the most frequent message of jobs with an error code. Jobs that count as skipped are ignored. */
async function commonMessage(
  code: string,
  state: StateReader,
  isOptional: IsOptional,
): Promise<CommonMessage> {
  const messages = new Messages();
  for (const status of ['failed', 'in-doubt'] as const) {
    for (const record of await first(maxRead, state.withStatus(status, code)))
      if (record.error !== undefined && !isSkipped(record, isOptional)) messages.add(record.error.message);
  }
  return messages.common();
}

/** Never negative: retried jobs reduce the number of settled ones. */
const perMinute = (settled: number, ms: number): number =>
  Number(((Math.max(0, settled) * 60_000) / Math.max(1000, ms)).toFixed(2));

/** Formats the numbers of jobs by status, done ones first; zeros are left out. */
export function statusNumbers({ jobs, doubts }: RunStatus): readonly string[] {
  // After a killed run no process waits for responses to its submissions; text calls are repeated.
  const left = doubts - jobs['in-doubt'];
  const numbers: readonly (readonly [number, string])[] = [
    [jobs.done, 'done'],
    [jobs.submitting - left + jobs.running + jobs.modal + jobs.saving, 'under way'],
    [jobs.failed, 'failed'],
    [jobs.accepted, 'failed as accepted'],
    [doubts, 'in doubt'],
    [jobs.skipped, 'skipped (their optional button is not there)'],
    [jobs.pending, 'waiting for their turn'],
  ];
  return numbers
    .filter(([amount], index) => amount > 0 || index === 0)
    .map(([amount, word]) => `${count(amount)} ${word}`);
}

const reasonText = (reason: RunStatus['putBack'][number]): string =>
  `${shownLine(reason.code)}  ${shownLine(messageText(reason))}`;

const acceptedMark = ({ accepted }: Partial<RunStatus['reasons'][number]>): string =>
  accepted ? ' (accepted)' : '';

/**
 * Formats the status for users.
 *
 * @param find command that searches jobs in doubt by tag, if there is one
 */
export function statusText(status: RunStatus, now: number, find?: string): string {
  const { slots, reasons, unasked, putBack, inDoubt, doubts, perMinute, running } = status;
  const width = widest([...reasons, ...unasked].map(({ code }) => shownLine(code)));
  const reasonLine = (reason: RunStatus['reasons'][number]): string =>
    `  ${count(reason.count)}  ${padEnd(shownLine(reason.code), width)}  ${shownLine(messageText(reason))}${acceptedMark(reason)}`;
  return [
    `${shownLine(status.file ?? basename(status.directory))} in ${shownLine(status.directory)}: ${stateWords(status, now)}`,
    ...stageLines(status),
    '',
    ...factLines(11, [
      ['matrix', status.set && `with ${shownLine(setWords(status.set))}`],
      ['planned', status.planned && howFarWords(status.planned)],
      ['jobs', statusNumbers(status).join(', ')],
      ['slots', slots && `${slotNumbers(slots).join(', ')} when the last run ended`],
      ['submissions', `${count(status.submits)}${costWords(status)}`],
      ['tokens', tokenText(status)],
      ['unanswered', status.unanswered === undefined ? undefined : unansweredWords(status.unanswered)],
      ['paid again', status.timedOutAgain === undefined ? undefined : timedOutWords(status.timedOutAgain)],
      ['redo', status.redo && redoWords(status.redo)],
      ['warning', status.sameFiles && shownLine(sameFilesWords(status.sameFiles))],
      ['rate', perMinute === undefined || (perMinute === 0 && !running) ? undefined : rateWords(perMinute)],
    ]),
    ...stepCostLines(status.steps),
    ...learnedLines(status.learned),
    ...workerLines(status.engine),
    ...(reasons.length === 0 ? [] : ['', 'Why jobs failed or are in doubt:']),
    ...reasons.slice(0, maxListed).map(reasonLine),
    ...(putBack.length === 0
      ? []
      : ['', 'Refused and put back for a later run (nothing was paid), by kind and reason:']),
    ...putBack
      .slice(0, maxListed)
      .map((group) => `  ${count(group.count)}  ${shownLine(group.kind)}  ${reasonText(group)}`),
    ...(unasked.length === 0 ? [] : ['', 'Slots that failed before a request was sent (they have no job):']),
    ...unasked.slice(0, maxListed).map(reasonLine),
    ...leftOutLines(status),
    ...otherServiceLines(status.otherServices),
    ...(inDoubt.length === 0 ? [] : ['', `In doubt (${counted(doubts, 'job')}):`]),
    ...inDoubt.map((slot) => `  ${slot.job}  cell ${slot.cell}, ${slotWords(slot)}`),
    ...inDoubtAdvice(status, find),
    ...manifestAdvice(status),
    '',
  ].join('\n');
}

function redoWords({ waiting, begun, made }: NonNullable<RunStatus['redo']>): string {
  const all = waiting + begun + made;
  const how = `${count(made)} of ${counted(all, 'job')} made anew${begun === 0 ? '' : `, ${count(begun)} begun`}`;
  return `${how}; later runs continue with the rest; run --redo-cancel cancels it`;
}

function tokenText({ tokens, assumedTokens }: RunStatus): string | undefined {
  if (assumedTokens === undefined) return tokens === 0 ? undefined : count(tokens);
  return [...(tokens === 0 ? [] : [count(tokens)]), assumedTokenWords(assumedTokens)].join(', ');
}

function costWords({ cost, possibleCost }: RunStatus): string {
  const spent = [
    ...(cost === undefined ? [] : [`cost ${money(cost)}`]),
    ...(possibleCost === undefined ? [] : [possibleCostWords(possibleCost, cost)]),
  ];
  return spent.length === 0 ? '' : `; ${soFarWords(spent.join(', '))}`;
}

function stageLines({ stage, directory, end }: RunStatus): readonly string[] {
  if (stage === undefined) return [];
  if (stage.state === 'complete' && end === undefined)
    return ['  No coordinator recorded this: the same command writes the manifest.'];
  const advice = stageAdvice(stage.state === 'unled' ? 'killed' : stage.state, directory);
  return advice === undefined ? [] : [`  ${advice[0]?.toUpperCase()}${advice.slice(1)}`];
}

function stateWords(
  { running, owner, startedAt, finishedAt, end, slots, stage }: RunStatus,
  now: number,
): string {
  const since = startedAt === undefined ? '' : ` for ${span(now - Date.parse(startedAt))}`;
  switch (stage?.state) {
    case 'registered':
      return `registered${since}`;
    case 'waiting':
      return `waiting for workers${since}`;
    case 'running':
      return `running${since} (${counted(stage.workers, 'worker')})`;
    case 'unled':
      return `not running; its coordinator was killed (begun ${startedAt})`;
    case 'complete':
    case 'stopped':
      if (end === undefined) return stage.state;
      break;
    case undefined:
      break;
  }
  if (running)
    return `running${since}${owner === undefined ? '' : ` (process ${owner.pid} on ${owner.host})`}`;
  if (end === undefined || finishedAt === undefined) {
    return startedAt === undefined
      ? 'nothing has run'
      : `not running; the last run was killed (begun ${startedAt})`;
  }
  if (end.kind === 'complete') {
    const word = endingWord(slots);
    return `not running; the last run ${word === 'complete' ? 'was complete' : word} at ${finishedAt}`;
  }
  const how = end.kind === 'interrupted' ? end.kind : `stopped (${end.code})`;
  return `not running; the last run was ${how} at ${finishedAt}`;
}

const maxKinds = 20;

function learnedLines(learned: RunStatus['learned']): readonly string[] {
  const kinds = (learned?.durations ?? []).slice(0, maxKinds);
  const width = widest(kinds.map(({ kind }) => shownLine(kind)));
  const lines = kinds.map((found) => `  ${padEnd(shownLine(found.kind), width)}  ${durationWords(found)}`);
  const limits = lanesOf(learned?.limits ?? noLimits).map((lane) => `  ${paceWords(lane)}`);
  return [
    ...(kinds.length === 0 ? [] : ['', 'How long tasks take here (run --relearn forgets it):', ...lines]),
    ...(limits.length === 0 ? [] : ['', 'What the service accepts (run --relearn forgets it):', ...limits]),
  ];
}

/** Largest number of missing files listed for workers; the JSON has all. */
const maxLacks = 20;

function workerLines(workersStatus: WorkersStatus | undefined): readonly string[] {
  if (workersStatus === undefined || (workersStatus.state === 'ended' && workersStatus.workers.length === 0))
    return [];
  const { slices, takeovers, tasks, workers } = workersStatus;
  const more = [
    ...(slices.fed ? [] : ['more to come']),
    ...(takeovers === 0 ? [] : [counted(takeovers, 'takeover')]),
  ];
  return [
    '',
    `On the engine: ${workersStatus.state === 'stopping' ? 'stopping, ' : ''}${workersStatus.led ? 'led' : 'nobody leads it'}`,
    ...factLines(11, [
      [
        'slices',
        [
          `${count(slices.waiting)} waiting`,
          `${count(slices.held)} held`,
          `${count(slices.done)} done`,
          ...more,
        ].join(', '),
      ],
      ['tasks', tasks.granted === 0 ? undefined : `${count(tasks.used)} of ${count(tasks.granted)} granted`],
      ...workersStatus.rates
        .filter(({ perMinute }) => perMinute >= 0.1)
        .map(({ route, perMinute }) => [route, rateWords(perMinute).replace('jobs', 'requests')] as const),
      ...workersStatus.spending.map(({ kind, most, used }) => {
        const words = kind === 'cost' ? money : count;
        return [kind, `${words(used)} of ${words(most)}`] as const;
      }),
      ...workers.map(({ name, alive, slices: held, seenAt }) => {
        const state = alive
          ? `alive, ${counted(held, 'slice')}`
          : `not seen since ${new Date(seenAt).toISOString()}`;
        return ['worker', `${shownLine(name)}: ${state}`] as const;
      }),
      ...(workersStatus.lacks ?? []).slice(0, maxLacks).map(({ worker, path, sha256, slices: waiting }) => {
        const hash = sha256 === '' ? '' : ` (SHA-256 ${sha256.slice(0, 12)})`;
        const file = `${shownLine(worker)}: ${shownLine(JSON.stringify(path))}${hash}`;
        return ['lacks', `${file}, ${counted(waiting, 'slice')}`] as const;
      }),
    ]),
  ];
}
