import type { Drawing } from '../draw/canvas/drawing.ts';
import type { Film } from '../draw/film.ts';
import type { PanDirection, Region } from '../draw/lineage.ts';
import type { TaskSpeed } from '../settings.ts';

/** `action` of the task record (gateway 4.2). */
export type TaskAction =
  | 'IMAGINE'
  | 'UPSCALE'
  | 'UPSCALE_HD'
  | 'VARIATION'
  | 'LOW_VARIATION'
  | 'HIGH_VARIATION'
  | 'REROLL'
  | 'ZOOM'
  | 'PAN'
  | 'INPAINT'
  | 'CUSTOM_ZOOM'
  | 'BLEND'
  | 'DESCRIBE'
  | 'VIDEO'
  | 'VIDEO_EXTEND'
  | 'EDITS'
  | 'SHORTEN';

/** How a task will end. It is decided at the submission; after that, only time changes the task. */
export type TaskOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly reason: string }
  | { readonly kind: 'cancel' }
  /** Never ends (gateway 4.8). */
  | { readonly kind: 'stuck' }
  /** Waits for its modal (gateway 4.6). */
  | { readonly kind: 'modal' };

/** The set of buttons of a finished task (gateway 5). */
export type ButtonSet =
  | 'grid'
  | 'single'
  | 'enlarged'
  /** A grid of edits, whose single images have no buttons. */
  | 'edited'
  | 'described'
  /** The buttons of a shorten. */
  | 'shortened'
  /** The buttons of several videos, and of a single one. */
  | 'films'
  | 'film'
  | 'none';

interface OpenedModal {
  /** The button of the parent that opened the modal. */
  readonly press: PressAction;
  /** When the modal was answered, unix ms. */
  readonly confirmedAt?: number;
  /** The task that the response to the answer named: a new one, or this. */
  readonly result?: string;
  /** Whether the task shows MODAL until the work is done (gateway 4.6). */
  readonly lingers?: boolean;
}

/**
 * A task as the sandbox stores it. The response to a fetch depends only on this record and the time, so that a restarted sandbox
 * continues where the killed one would be.
 */
export interface StoredTask {
  readonly id: string;
  readonly action: TaskAction;
  readonly speed: TaskSpeed;
  readonly botType: string;
  /** The submitted prompt; for a click, the prompt of its parent or of its modal. */
  readonly prompt: string;
  readonly description: string;
  /** The caller's own tag, echoed (gateway 2.2). */
  readonly state: string;
  readonly parentId?: string;
  /** `6.1`, `niji 6`. */
  readonly version: string;
  /** Unix ms. */
  readonly submitAt: number;
  /** When the task gets a working place, unix ms. */
  readonly startAt: number;
  readonly endAt: number;
  /** Whether the task takes a working place. */
  readonly occupies: boolean;
  readonly outcome: TaskOutcome;
  readonly buttonSet: ButtonSet;
  /** The picture of imageUrl. */
  readonly drawing: Drawing;
  /** The videos of videoUrls. */
  readonly films?: readonly Film[];
  /** The results of a describe or a shorten. */
  readonly prompts?: readonly string[];
  readonly modal?: OpenedModal;
  /** Hash of the request, by which the counters find repeated submissions. */
  readonly request: string;
}

/** The work that a button asks for. Indices count from 0. */
export type PressAction =
  | { readonly kind: 'upscale'; readonly index: number }
  | { readonly kind: 'variation'; readonly index: number }
  | { readonly kind: 'reroll' }
  | { readonly kind: 'enlarge'; readonly creative: boolean; readonly times: 2 | 4 }
  | { readonly kind: 'vary'; readonly strong: boolean }
  | { readonly kind: 'inpaint' }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'custom-zoom' }
  | { readonly kind: 'pan'; readonly direction: PanDirection }
  /** `manual`: the button opens a modal for the prompt. */
  | { readonly kind: 'animate'; readonly motion: 'low' | 'high'; readonly manual?: true }
  /** Chooses one of several videos. */
  | { readonly kind: 'choose-film'; readonly index: number }
  | { readonly kind: 'extend'; readonly motion: 'low' | 'high' }
  /** Imagines one of the prompts of a describe. */
  | { readonly kind: 'imagine-prompt'; readonly index: number }
  | { readonly kind: 'imagine-all' }
  | { readonly kind: 'describe-again' };

/** The answer to a modal. */
export interface ModalConfirm {
  /** The prompt of the task; never empty. */
  readonly prompt: string;
  /** The stored mask, white where the image is painted again. */
  readonly mask?: Region;
}

/** The visible state of a task at one moment (gateway 4.3, 4.4). */
export interface Moment {
  readonly status:
    | ''
    | 'NOT_START'
    | 'SUBMITTED'
    | 'IN_PROGRESS'
    | 'MODAL'
    | 'SUCCESS'
    | 'FAILURE'
    | 'CANCEL';
  /** Whole percent; absent if the service shows no progress. */
  readonly percent?: number;
  readonly started: boolean;
  readonly finished: boolean;
}

/** The percentages that a working task shows one after another (gateway 4.4). */
const steps = [0, 15, 31, 46, 62, 78, 93] as const;

/** Shares of a task's working time after which it is SUBMITTED, and then IN_PROGRESS. */
const handedOver = 0.04;
const isActive = 0.1;

/** Returns the state of a task at `now`, in unix ms. */
export function momentOf(task: StoredTask, now: number): Moment {
  if (showsModal(task, now)) return { status: 'MODAL', started: false, finished: false };
  if (now >= task.endAt) {
    switch (task.outcome.kind) {
      case 'success':
        return { status: 'SUCCESS', percent: 100, started: true, finished: true };
      case 'failure':
        return { status: 'FAILURE', started: true, finished: true };
      case 'cancel':
        return { status: 'CANCEL', started: true, finished: true };
      case 'stuck':
      case 'modal':
        break;
    }
  }
  const share = (now - task.startAt) / Math.max(1, task.endAt - task.startAt);
  if (share < handedOver) return { status: 'NOT_START', started: false, finished: false };
  if (share < isActive) return { status: 'SUBMITTED', percent: 0, started: true, finished: false };
  const index = Math.floor(((share - isActive) / (1 - isActive)) * steps.length);
  const percent = steps[Math.min(index, steps.length - 1)] ?? 0;
  return { status: 'IN_PROGRESS', percent, started: true, finished: false };
}

/** Whether a task waits for its modal, or still shows MODAL while it works (gateway 4.6). */
function showsModal({ outcome, modal, endAt }: StoredTask, now: number): boolean {
  if (outcome.kind === 'modal') return true;
  if (modal?.confirmedAt === undefined) return false;
  return now < modal.confirmedAt || (modal.lingers === true && now < endAt);
}

/** Returns the state that a gateway shows which copies its tasks every `refresh` ms: empty before the first copy (gateway 3.5). */
export function refreshedMoment(task: StoredTask, now: number, refresh: number): Moment {
  if (refresh <= 0) return momentOf(task, now);
  const readings = Math.floor((now - task.submitAt) / refresh);
  if (readings < 1) return { status: '', percent: 0, started: false, finished: false };
  return momentOf(task, task.submitAt + readings * refresh);
}
