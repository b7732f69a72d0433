import type { StepKind } from '../../../src/pipeline/pipeline.ts';
import type { Route } from '../../../src/run/events.ts';
import type { AskFault, FetchFault, MaskFault, SaveFault, SubmitFault } from './faults.ts';
import type { FailedEnd, MadeTask, TaskEnd } from './made-tasks.ts';
import type { noTaskWords } from './task-answers.ts';
import type { ModelUsage } from './text-model.ts';

/**
 * What a gateway decides where gateways differ, and what goes wrong with it. `n` counts the requests of all routes from 1. A decision
 * is asked for as often as it matters, and has to be the same each time.
 */
export interface Temper {
  /** From now on it tells the truth, of the tasks that it made before too. */
  readonly healed: boolean;
  /** This trouble came about (`faultNames`). */
  meet(trouble: string): void;

  /** What goes wrong with a request; undefined: nothing. */
  submitFault(
    route: 'submit' | 'modal',
    key: string,
    n: number,
    load: () => number,
    kind: StepKind,
  ): SubmitFault | undefined;
  maskFault(n: number): MaskFault | undefined;
  /** @param reported key of the job whose task it is, once its end was reported */
  fetchFault(route: 'fetch' | 'list' | 'task list', n: number, reported?: string): FetchFault | undefined;
  saveFault(n: number): SaveFault | undefined;
  askFault(key: string, n: number, kind: StepKind): AskFault | undefined;
  /** Headers of every answer that is no refusal. Absent: none. */
  headers?(): Readonly<Record<string, string>>;
  /** ms from a request to its answer. */
  latencyMs(route: Route, n: number): number;

  /** How a task goes that was made, or went on from its modal. @param name of this making, one of a kind */
  durationMs(key: string, name: string): number;
  end(key: string, name: string): TaskEnd;
  failure(task: MadeTask): FailedEnd;
  /** How a task has failed that a submission is said to have made before. */
  failedBefore(id: string): 'transient' | 'permanent';
  /** The nth click of a job opens no modal, whatever it asks for. */
  isWindowless(key: string, count: number): boolean;
  /** A click that opened a modal is answered by 21; else by 1, and only a poll shows MODAL (gateway 3.3). */
  opensAtOnce(n: number): boolean;
  /** Tasks before this one in the queue, by the answer to its submission. */
  queued(n: number): number;
  /** The modal of a task is answered in vain: the answer is refused, the task has failed, or fails when it goes on. */
  isModalOver(how: 'refused' | 'failed' | 'gone' | 'begun in vain', task: MadeTask, now: number): boolean;
  /** A task goes on from its modal under its own id (gateway 4.6). */
  keepsId(key: string): boolean;
  /** Until when a task shows MODAL although it went on (gateway 4.6). */
  lingersUntil(name: string, now: number, endsAt: number): number | undefined;

  /** A new task gets the id of the one before, which was made a moment ago: the new one takes its place. */
  repeatsId(name: string): boolean;
  /** What the record of a task says of its submission. */
  tellsOf(): 'state' | 'prompt' | 'nothing';
  /** A task that was just made is not known yet. */
  isUnknownYet(ageMs: number): boolean;
  noTaskWord(id: string): (typeof noTaskWords)[number];
  /** Status and progress of a task that is being worked on. */
  workingStatus(id: string): string;
  workingProgress(task: MadeTask, now: number): string;
  /** A word that no list of statuses has. */
  unknownStatus(n: number): string;
  /** From its end to the links of a task, ms (gateway 3.5). */
  resultLagMs(id: string): number;
  /** What the customIds end in at this moment, where they change. */
  customIdAge(now: number): string | undefined;

  /** It has no list of the tasks that are asked for. */
  refusesLists(): boolean;
  /** What such a list shows of a task (gateway 4.1, 3.5). */
  listedRow(id: string, n: number): 'plain' | 'missing' | 'stale' | 'strange';
  isStaleFirst(id: string, n: number): boolean;
  /** It lists all its tasks (`task/list`). */
  hasTaskList(): boolean;
  /** What that list shows of a task beside its row: its tag, and when it was made; undefined: the task is missing. */
  taskListRow(task: MadeTask, now: number, n: number): Readonly<Record<string, unknown>> | undefined;
  /** How many of its newest tasks it lists. Absent: all. */
  readonly maxListed?: number;

  usage(n: number): ModelUsage;
  /** Rounds of function calls before the model answers. */
  rounds(key: string): number;
  /** Which of four the model finds best. */
  best(key: string): number;
  /** What the model lists where a list of scenes is asked for, with some of them twice; each answer may be another list. */
  scenes(key: string, n: number): readonly string[];
  /** The model puts JSON into a fence. */
  isFenced(key: string): boolean;
}

/** A gateway with which nothing goes wrong: it answers after 100 ms, and its tasks succeed after 30 s. */
export const plainTemper: Temper = {
  healed: true,
  meet: () => {},
  submitFault: () => undefined,
  maskFault: () => undefined,
  fetchFault: () => undefined,
  saveFault: () => undefined,
  askFault: () => undefined,
  latencyMs: () => 100,
  durationMs: () => 30_000,
  end: () => 'success',
  failure: () => ({ status: 'FAILURE', failReason: '[Internal error] Something went wrong' }),
  failedBefore: () => 'transient',
  isWindowless: () => false,
  opensAtOnce: () => true,
  queued: () => 0,
  isModalOver: () => false,
  keepsId: () => false,
  lingersUntil: () => undefined,
  repeatsId: () => false,
  tellsOf: () => 'nothing',
  isUnknownYet: () => false,
  noTaskWord: () => 'unknown',
  workingStatus: () => 'IN_PROGRESS',
  workingProgress: () => '46%',
  unknownStatus: () => 'QUEUED',
  resultLagMs: () => 0,
  customIdAge: () => undefined,
  refusesLists: () => false,
  listedRow: () => 'plain',
  isStaleFirst: () => false,
  hasTaskList: () => true,
  taskListRow: ({ key, at }) => ({ state: key, submitTime: at }),
  usage: () => ({ prompt: 10, candidates: 5, thoughts: 0 }),
  rounds: () => 0,
  best: () => 1,
  scenes: () => ['a storm', 'a calm'],
  isFenced: () => false,
};
