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

/** How a task will end; fixed when its work is submitted, so that nothing but time moves it on. */
export type TaskOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly reason: string }
  | { readonly kind: 'cancel' }
  /** Works for ever (gateway 4.8). */
  | { readonly kind: 'stuck' }
  /** Waits for its modal (gateway 4.6). */
  | { readonly kind: 'modal' };

/** Which buttons a finished task offers (gateway 5). */
export type ButtonSet =
  | 'grid'
  | 'single'
  | 'enlarged'
  /** A grid of edits, whose single images have no buttons. */
  | 'edited'
  | 'described'
  /** Shorter prompts, and no image. */
  | 'shortened'
  /** Several videos, and one of them. */
  | 'films'
  | 'film'
  | 'none';

interface OpenedModal {
  /** What was pressed on the parent. */
  readonly press: PressAction;
  /** When it was answered, unix ms. */
  readonly confirmedAt?: number;
  /** The task that the response named: another one, or this. */
  readonly result?: string;
  /** MODAL is shown until the work is done (gateway 4.6). */
  readonly lingers?: boolean;
}

/**
 * All that the sandbox remembers of a task. The response to a fetch is a function of this record and the time alone, so
 * that a restarted sandbox continues exactly where the killed one would be.
 */
export interface StoredTask {
  readonly id: string;
  readonly action: TaskAction;
  readonly speed: TaskSpeed;
  readonly botType: string;
  /** As submitted; a click has its parent's, or what its modal said. */
  readonly prompt: string;
  readonly description: string;
  /** The caller's own tag, echoed (gateway 2.2). */
  readonly state: string;
  readonly parentId?: string;
  /** `6.1`, `niji 6`. */
  readonly version: string;
  /** Unix ms. */
  readonly submitAt: number;
  /** When a working place is free for it. */
  readonly startAt: number;
  readonly endAt: number;
  /** Whether it takes one of the working places. */
  readonly occupies: boolean;
  readonly outcome: TaskOutcome;
  readonly buttonSet: ButtonSet;
  /** What imageUrl shows. */
  readonly drawing: Drawing;
  /** What videoUrls show. */
  readonly films?: readonly Film[];
  /** What a describe or a shorten has found. */
  readonly prompts?: readonly string[];
  readonly modal?: OpenedModal;
  /** Distinguishes submissions in the counters; equal for equal requests. */
  readonly request: string;
}

/** What pressing a button asks for. Indices count from 0. */
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
  /** A manual one asks for its prompt first. */
  | { readonly kind: 'animate'; readonly motion: 'low' | 'high'; readonly manual?: true }
  /** One of several videos. */
  | { readonly kind: 'choose-film'; readonly index: number }
  | { readonly kind: 'extend'; readonly motion: 'low' | 'high' }
  /** Imagines one of the prompts that a describe has found. */
  | { readonly kind: 'imagine-prompt'; readonly index: number }
  | { readonly kind: 'imagine-all' }
  | { readonly kind: 'describe-again' };

/** What a modal was answered with. */
export interface ModalConfirm {
  /** As it will be shown; never empty. */
  readonly prompt: string;
  /** Kept, white where it is painted again. */
  readonly mask?: Region;
}

/** What can be seen of a task at one moment (gateway 4.3, 4.4). */
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
  /** Whole percent; absent where the service shows none. */
  readonly percent?: number;
  readonly started: boolean;
  readonly finished: boolean;
}

/** The steps that one imagine shows on its way (gateway 4.4). */
const steps = [0, 15, 31, 46, 62, 78, 93] as const;

/** Shares of a task's working time after which it is SUBMITTED, and then IN_PROGRESS. */
const handedOver = 0.04;
const isActive = 0.1;

/** Where a task is at `now` (unix ms). Depends on its two arguments alone. */
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

/** Whether a task waits for its modal, or still shows that while the work is under way (gateway 4.6). */
function showsModal({ outcome, modal, endAt }: StoredTask, now: number): boolean {
  if (outcome.kind === 'modal') return true;
  if (modal?.confirmedAt === undefined) return false;
  return now < modal.confirmedAt || (modal.lingers === true && now < endAt);
}

/**
 * What a gateway that reads its tasks only every `refresh` ms shows at `now`: the state at its last reading, and
 * an empty status before the first (gateway 3.5).
 */
export function refreshedMoment(task: StoredTask, now: number, refresh: number): Moment {
  if (refresh <= 0) return momentOf(task, now);
  const readings = Math.floor((now - task.submitAt) / refresh);
  if (readings < 1) return { status: '', percent: 0, started: false, finished: false };
  return momentOf(task, task.submitAt + readings * refresh);
}
