/** How the workers of a run on an engine are doing (schemas/status.schema.json). */
export interface WorkersStatus {
  readonly state: 'open' | 'stopping' | 'ended';
  /** A process of `promptpress run` leads it. */
  readonly led: boolean;
  readonly workers: readonly {
    readonly name: string;
    readonly session: number;
    readonly startedAt: number;
    readonly seenAt: number;
    readonly alive: boolean;
    readonly slices: number;
  }[];
  readonly slices: {
    readonly waiting: number;
    readonly held: number;
    readonly done: number;
    readonly fed: boolean;
  };
  /** How often a slice was taken from a worker that had not let go of it. */
  readonly takeovers: number;
  readonly rates: readonly {
    readonly route: string;
    readonly perMinute: number;
    readonly pausedMs?: number;
  }[];
  readonly tasks: { readonly granted: number; readonly used: number; readonly accepted?: number };
  readonly spending: readonly { readonly kind: string; readonly most: number; readonly used: number }[];
  /** Which workers lack which files as the run has them, and how many slices wait for each; absent: none. */
  readonly lacks?: readonly {
    readonly worker: string;
    readonly path: string;
    /** Empty: it is known only from a reply, and its coordinator has not said yet what it is. */
    readonly sha256: string;
    readonly slices: number;
  }[];
}
