import type { Drawing } from '../draw/canvas/drawing.ts';
import type { Film } from '../draw/film.ts';
import type { TaskSpeed } from '../settings.ts';
import type { PressAction } from './operation.ts';

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

/** A window that a click has opened. */
export interface OpenedModal {
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
