import type { Drawing } from '../draw/drawing.ts';

/** service.md 4.1.5: chosen by the path prefix, relax without one. */
export type Speed = 'relax' | 'fast' | 'turbo';

/** What decides how long a task works. `enlarge` is an upscale of a single image, `outpaint` zoom and pan. */
export type OperationClass = 'imagine' | 'variation' | 'upscale' | 'enlarge' | 'outpaint';

/** `action` of the task record (protocol.md 1.2). */
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
  | 'CUSTOM_ZOOM';

/** How a task will end; fixed at submission, so that nothing but time moves it on. */
export type TaskOutcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failure'; readonly reason: string }
  /** Works for ever (protocol.md 6.3). */
  | { readonly kind: 'stuck' }
  /** Waits for its modal (service.md 3). */
  | { readonly kind: 'modal' };

/** Which buttons a finished task offers: those of a grid, of one image, or of an enlarged one. */
export type ButtonSet = 'grid' | 'single' | 'enlarged';

/**
 * All that the sandbox remembers of a task. What a fetch shows is a function of this and the time alone, so that
 * a restarted sandbox goes on exactly where the killed one would be.
 */
export interface StoredTask {
  readonly id: string;
  readonly action: TaskAction;
  readonly speed: Speed;
  readonly botType: string;
  /** As submitted; a click has its parent's. */
  readonly prompt: string;
  readonly description: string;
  /** The caller's own tag, echoed (protocol.md 1.2). */
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
  readonly drawing: Drawing;
  /** Tells equal submissions apart from different ones in the counters; equal for equal requests. */
  readonly request: string;
}
