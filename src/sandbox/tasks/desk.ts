import { imagineDrawing } from '../draw/lineage.ts';
import type { SandboxNames } from '../names.ts';
import { type ParsedPrompt, parsePrompt } from '../prompt/flags.ts';
import { digestOf, unitOf } from '../seeded.ts';
import type { SandboxSettings } from '../settings.ts';
import type { TaskBook } from './book.ts';
import { buttonsOf } from './buttons.ts';
import { Lanes } from './lanes.ts';
import { type Pressed, pressOn } from './press.ts';
import { refusalTexts, refused, type Submission } from './submission.ts';
import type { OperationClass, Speed, StoredTask, TaskOutcome } from './task.ts';
import { TaskIds } from './task-id.ts';
import { momentOf } from './timeline.ts';

/** An imagine whose body has been checked. `images` are the content hashes of its image prompts. */
export interface ImagineOrder {
  readonly prompt: string;
  readonly botType: string;
  readonly state: string;
  readonly images: readonly string[];
}

/** An action whose body has been checked. */
export interface ActionOrder {
  readonly taskId: string;
  readonly customId: string;
  readonly enableRemix: boolean;
  readonly state: string;
}

type NewTask = Omit<StoredTask, 'id' | 'submitAt' | 'startAt' | 'endAt'> & {
  readonly operation: OperationClass;
};

/** Longest prompt that is read. */
const promptLimit = 16_384;

const success: TaskOutcome = { kind: 'success' };

/**
 * Takes submissions and makes tasks of them (service.md 3, protocol.md 2). Every decision about a task falls here,
 * once; a task in the book only ages.
 */
export class TaskDesk {
  readonly #book: TaskBook;
  readonly #settings: SandboxSettings;
  readonly #names: SandboxNames;
  readonly #now: () => number;
  readonly #lanes: Lanes;
  readonly #ids: TaskIds;

  constructor(book: TaskBook, settings: SandboxSettings, names: SandboxNames, now: () => number) {
    this.#book = book;
    this.#settings = settings;
    this.#names = names;
    this.#now = now;
    this.#lanes = new Lanes(settings.concurrency, settings.queue);
    this.#ids = new TaskIds(book.lastId(), settings.bareIds);
    for (const task of book.unfinished(now())) this.#lanes.book(task.startAt, task.endAt);
  }

  /** POST …/submit/imagine. `outcome` is a fault's: it overrules what the prompt would bring. */
  imagine(order: ImagineOrder, speed: Speed, outcome?: TaskOutcome): Submission {
    const { prompt, botType, state } = order;
    if (prompt.length > promptLimit) return refused(4, `prompt: at most ${promptLimit} characters`);
    const { bannedMark } = this.#settings;
    if (bannedMark !== '' && prompt.includes(bannedMark)) {
      return refused(24, refusalTexts[24] ?? '', { promptEn: prompt, bannedWord: bannedMark });
    }
    const parsed = parsePrompt(prompt, botType === this.#names.botTypes[1]);
    const request = digestOf(JSON.stringify(['imagine', botType, prompt, order.images]));
    return this.#admit(
      {
        action: 'IMAGINE',
        operation: 'imagine',
        speed,
        botType,
        prompt,
        description: `/imagine ${prompt}`,
        state,
        version: parsed.flags.version ?? this.#settings.defaultVersion,
        occupies: true,
        outcome: outcome ?? this.#outcomeOf(prompt, parsed, request),
        buttonSet: 'grid',
        drawing: imagineDrawing(parsed, order.images),
        request,
      },
      1,
    );
  }

  /** POST …/submit/action. */
  action(order: ActionOrder, speed: Speed, outcome?: TaskOutcome): Submission {
    const parent = this.#book.get(order.taskId);
    if (parent === undefined) {
      return {
        status: 404,
        body: { code: 3, description: 'The related task does not exist or has expired', result: null },
      };
    }
    const now = this.#now();
    const { status } = momentOf(parent, now);
    if (status !== 'SUCCESS') return refused(4, `The related task has the wrong status: ${status}`);

    const offered = buttonsOf(parent, this.#names.customId, now, this.#settings.buttonLife);
    const button = offered.find(({ wire }) => wire.customId === order.customId);
    if (button === undefined) {
      return refused(
        4,
        order.customId.startsWith(`${this.#names.customId}::`)
          ? 'The customId is not among the current buttons of this task'
          : 'Unknown action type',
      );
    }
    const pressed = pressOn(parent, button.press);
    if (pressed === undefined) return refused(4, 'The sandbox does not offer this button yet');
    const modal = pressed.modal === 'always' || (pressed.modal === 'remix' && order.enableRemix);
    return this.#admit(
      {
        ...this.#child(parent, pressed),
        description: `/up ${parent.id} ${button.wire.label === '' ? button.wire.emoji : button.wire.label}`,
        speed,
        state: order.state,
        occupies: !modal && pressed.operation !== 'upscale',
        outcome: modal ? { kind: 'modal' } : (outcome ?? success),
        request: digestOf(JSON.stringify(['action', parent.id, button.press, modal])),
      },
      modal ? this.#settings.modalCode : 1,
    );
  }

  #child(parent: StoredTask, pressed: Pressed) {
    return {
      action: pressed.action,
      operation: pressed.operation,
      botType: parent.botType,
      prompt: parent.prompt,
      parentId: parent.id,
      version: parent.version,
      buttonSet: pressed.buttonSet,
      drawing: pressed.drawing,
    };
  }

  /** Finds a place for the task, makes it durable, and only then takes the place and answers. */
  #admit({ operation, ...task }: NewTask, code: number): Submission {
    const now = this.#now();
    const place = task.occupies
      ? this.#lanes.reserve(now)
      : { kind: 'place' as const, startAt: now, ahead: 0 };
    if (place.kind === 'full') return refused(23, refusalTexts[23] ?? '');

    const endAt = place.startAt + this.#duration(operation, task.speed, task.request);
    const stored: StoredTask = {
      ...task,
      id: this.#ids.next(now),
      submitAt: now,
      startAt: place.startAt,
      endAt,
    };
    this.#book.add(stored);
    if (task.occupies) this.#lanes.book(place.startAt, endAt);

    if (place.ahead > 0) {
      return this.#accepted(stored.id, 22, `In queue, ${place.ahead} tasks ahead`, {
        numberOfQueues: place.ahead,
      });
    }
    if (code === 21) {
      return this.#accepted(stored.id, 21, 'Waiting for window confirm', {
        finalPrompt: stored.prompt,
        remix: true,
      });
    }
    return this.#accepted(stored.id, code, 'Submit success', {});
  }

  #accepted(taskId: string, code: number, description: string, properties: object): Submission {
    const result = this.#settings.bareIds ? BigInt(taskId) : taskId;
    return { status: 200, taskId, body: { code, description, result, properties: { ...properties } } };
  }

  #duration(operation: OperationClass, speed: Speed, request: string): number {
    const { durations, spread, pace } = this.#settings;
    const draw = 2 * unitOf(`duration ${request}`) - 1;
    return Math.round(durations[operation][speed] * (1 + spread * draw) * pace);
  }

  #outcomeOf(prompt: string, parsed: ParsedPrompt, request: string): TaskOutcome {
    const { moderatedMark, brokenMark, stuckMark } = this.#settings;
    const marked = (mark: string): boolean => mark !== '' && prompt.includes(mark);
    if (parsed.problem !== undefined) return { kind: 'failure', reason: parsed.problem };
    if (marked(moderatedMark)) {
      return { kind: 'failure', reason: `[Banned prompt detected] The text ${moderatedMark} is not allowed` };
    }
    if (marked(brokenMark) && this.#book.accepted(request) === 0) {
      return { kind: 'failure', reason: '[Internal error] Something went wrong' };
    }
    return marked(stuckMark) ? { kind: 'stuck' } : success;
  }
}
