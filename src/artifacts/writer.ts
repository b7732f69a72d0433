import type { Artifact } from '../plan/job.ts';

/** Why a file could not be fetched or written. */
export interface SaveFailure {
  /**
   * `download.refused` (the link: 400, 401, 403, 404, 410: ask the service for a fresh one) | `download.address` (not an
   * allowed host) | `download.not-image` | `download.not-video` | `download.too-large` | `download.truncated` | `download.status` |
   * `download.connection` | `download.aborted` (the caller's signal; nothing is left behind) | `disk.full` | `disk.readonly` | `disk.io` |
   * `disk.link` (a link has the name of a file or a folder of the run directory)
   */
  readonly code: string;
  /**
   * `fresh-link`: fetch the task again; `retry`: the same link once more, then a fresh one; `throttle`: later; `permanent`:
   * fails the job; `stop`: the disk is full or not writable, the run stops (exit 74).
   */
  readonly class: 'fresh-link' | 'retry' | 'throttle' | 'permanent' | 'stop';
  readonly message: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export type SaveResult =
  | {
      readonly ok: true;
      readonly value: Artifact;
      /** Those that were written together with it, with the output numbers that follow. */
      readonly more?: readonly Artifact[];
    }
  | { readonly ok: false; readonly error: SaveFailure };

/** Brings what links lead to into the run directory: checked, hashed while streaming, synced, renamed. */
export interface ArtifactWriter {
  /** Idempotent: a file that is there under its final name from an earlier try is replaced whole. */
  save(
    request: {
      readonly url: string;
      readonly key: string;
      /** Counts from 1 within the job. */
      readonly output: number;
      /** What the link should lead to. Default `image`. */
      readonly media?: 'image' | 'video';
    },
    signal: AbortSignal,
  ): Promise<SaveResult>;
  /**
   * Writes the texts of a job, and the images among them, under final names, synced. Idempotent: files of an earlier try
   * are replaced whole.
   */
  keep(request: KeepRequest, signal: AbortSignal): Promise<KeepResult>;
  close(): Promise<void>;
}

/** A text of an answer. */
export interface TextPiece {
  readonly kind: 'text';
  readonly candidate: number;
  readonly text: string;
  readonly mime: 'text/plain' | 'application/json';
}

/** One file that a text answer holds. */
export type ReplyPiece =
  | TextPiece
  | {
      readonly kind: 'image';
      readonly candidate: number;
      /** Base64, as it came. */
      readonly data: string;
      readonly mimeType: string;
    };

export interface KeepRequest {
  readonly key: string;
  /** In the order of their output numbers, from 1. */
  readonly pieces: readonly ReplyPiece[];
  /** The whole answer as JSON: `text/<2 characters of key>/<key>.answer.json`. Absent: no such file. */
  readonly answer?: string;
  /** Answers of the conversation so far, this one included; one more than its finished rounds of function calls. Default 1. */
  readonly round?: number;
  /** It calls functions that are answered: the whole answer is kept as `<key>.answer.<round>.json`, and the next one follows. */
  readonly goesOn?: boolean;
}

export type KeepResult =
  | {
      readonly ok: true;
      readonly value: { readonly artifacts: readonly Artifact[]; readonly answerFile?: string };
    }
  | { readonly ok: false; readonly error: SaveFailure };
