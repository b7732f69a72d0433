import type { SubmitRoute } from './fake-address.ts';
import type { FakeTask } from './fake-task.ts';

/** A submission that made a task. */
export interface FakeSubmit {
  readonly task: FakeTask;
  readonly route: Exclude<SubmitRoute, 'modal' | 'change'>;
  readonly body: Readonly<Record<string, unknown>>;
  /** `<prompt>`, `<prompt> > <path of labels>`, or of what begins from images its body in a word: the same for the same request. */
  readonly asked: string;
}

/** The answer to a modal that was taken. */
export interface FakeModal {
  /** The task that waited. */
  readonly task: FakeTask;
  /** The one that works on it. */
  readonly result: FakeTask;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The tasks that were made, in ways to count them. */
export interface FakeSubmits {
  /** In order; only those that made a task. */
  readonly all: readonly FakeSubmit[];
  /** Prompt of an imagine → tasks made of it. */
  readonly byPrompt: ReadonlyMap<string, number>;
  /** `<parent task id> <customId>` → tasks made of it. */
  readonly byClick: ReadonlyMap<string, number>;
  /** What was asked → tasks made of it: the same click, whatever the ids. */
  readonly byPath: ReadonlyMap<string, number>;
  /** Modals that were answered. What they make is not among the submissions: the click is the one that is. */
  readonly modals: readonly FakeModal[];
  /** Tags of the tasks whose modal was answered once more, which is refused. */
  readonly secondModals: readonly string[];
}
