import type { JobErrorCode } from '../pipeline/diagnostics/job-errors.ts';
import type { Artifact } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';

/** Why a file could not be fetched or written. */
export interface SaveFailure {
  readonly code: JobErrorCode;
  /**
   * `fresh-link`: fetch the task again; `retry`: the same link once more, then a fresh one; `throttle`: later; `permanent`:
   * fails the job; `stop`: the disk or the bucket takes no files, the run stops (exit 74).
   */
  readonly class: 'fresh-link' | 'retry' | 'throttle' | 'permanent' | 'stop';
  readonly message: string;
  /**
   * Whether the reason of a failed download is lasting. The link was refused with 401, 403, 404 or 410 or by a challenge page, or leads
   * to a forbidden place (`download.address`). Absent: the reason may pass (a temporary status, a connection, a broken or wrong file).
   * It predicts other links of the service; `class` says whether this one is tried again.
   */
  readonly lasting?: true;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export type SaveResult =
  | {
      readonly ok: true;
      readonly value: Artifact;
      /** What is wrong with a file that came twice in this form, and was kept as it is. */
      readonly warning?: string;
    }
  | { readonly ok: false; readonly error: SaveFailure };

/** The frames of a grid in the order U1 to U4, or why it cannot be cut. */
export type CutResult =
  | { readonly ok: true; readonly value: readonly Artifact[] }
  | { readonly ok: false; readonly error: SaveFailure };

/** Downloads files into the run directory: checked, hashed while streaming, synced, renamed. */
export interface ArtifactWriter {
  /**
   * Downloads a file. Idempotent: a file of an earlier try is replaced as a whole. A JPEG of which half seems to be missing is
   * requested once more, and then kept as it is, with a warning.
   */
  save(
    request: {
      readonly url: string;
      /** Second link to the same file, followed if `url` is refused, or leads to a forbidden place. */
      readonly spare?: string;
      /** SHA-256 of the other files of the job, in hex: `spare` may lead to one of these, which is then not accepted. */
      readonly others?: readonly string[];
      readonly key: string;
      /** Number of the output, from 1 within the job. */
      readonly output: number;
      /** Kind of file that the link should lead to. Default `image`. */
      readonly media?: 'image' | 'video';
    },
    signal: AbortSignal,
  ): Promise<SaveResult>;
  /**
   * Cuts the file of a grid into its four frames, which are PNG files of the same pixels: outputs 2 to 5 of the job. Downloads nothing.
   * Idempotent: files of an earlier try are replaced by the same bytes. A file that cannot be cut is a `permanent` failure.
   */
  cut(request: { readonly key: string; readonly grid: Artifact }, signal: AbortSignal): Promise<CutResult>;
  /**
   * Writes the images of a reply under final names, synced, and keeps the whole reply, which is durable with the next commit.
   * Idempotent: files of an earlier try are replaced. A reply that is kept again is one more line.
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

/** One output of a text answer. */
export type ReplyPiece =
  | TextPiece
  | {
      readonly kind: 'image';
      readonly candidate: number;
      /** Base64 as received. */
      readonly data: string;
      readonly mimeType: string;
    };

export interface KeepRequest {
  readonly key: string;
  /** Pieces in the order of their output numbers, from 1. Images become files; texts are in the record of the job. */
  readonly pieces: readonly ReplyPiece[];
  /** The whole answer as JSON in one line. Absent: it is not kept. */
  readonly answer?: string;
  /** Whether an earlier call of the job may have left files. Default: no. */
  readonly isAgain?: boolean;
}

export type KeepResult =
  | {
      readonly ok: true;
      readonly value: {
        readonly artifacts: readonly Artifact[];
        /** Place of the whole reply; absent: it was not kept. */
        readonly reply?: ReplyPlace;
      };
    }
  | { readonly ok: false; readonly error: SaveFailure };
