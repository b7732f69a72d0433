import type { SameFilesFound } from '../results/same-files.ts';

/** Something in a run directory that is not as the state says. */
export type Finding =
  | {
      /**
       * `missing`: no such file, or a link in its place; `changed`: other bytes than those that were written; `uncut`: a grid without frames,
       * because its file was missing or changed when it was to be cut.
       */
      readonly kind: 'missing' | 'changed' | 'uncut';
      /** Relative to the run directory. */
      readonly file: string;
      readonly job: string;
      /** It can be downloaded again, or cut again, without a submission. */
      readonly isRepairable: boolean;
      /** It is a frame of the job's grid: nothing is downloaded for it. */
      readonly isFrame?: true;
    }
  | {
      /**
       * A finished job whose files were never downloaded, or are not any more in the state: the run, or the repair, that was to do it ended
       * before.
       */
      readonly kind: 'unsaved';
      readonly job: string;
      readonly isRepairable: boolean;
      /** The file is there, and its frames are not. */
      readonly isFrame?: true;
    }
  | {
      /** No job names it: left from a job that was redone or removed, or put there by somebody. */
      readonly kind: 'unlisted';
      readonly file: string;
    }
  | {
      /** The line of a kept reply is gone, or has other bytes. */
      readonly kind: 'reply';
      readonly file: string;
      readonly job: string;
    }
  | {
      /** Lines of kept replies are whole, but stand elsewhere in their file than the state says: something before them was taken out or put in. */
      readonly kind: 'moved';
      readonly file: string;
      readonly replies: number;
    }
  | ({
      /** Files of different jobs have the same bytes. */
      readonly kind: 'same';
    } & SameFilesFound)
  | {
      /** A finished job whose task id another job got too, which is in doubt for that: its result may be that of the other. */
      readonly kind: 'shared';
      readonly job: string;
      readonly other: string;
    }
  | {
      /** `torn`: cut off in the middle of a row; `other`: not the rows of this state. */
      readonly kind: 'manifest';
      readonly file: string;
      readonly why: 'missing' | 'torn' | 'other';
    };

/**
 * A finding that makes the command end with 1: an unlisted file keeps nobody from using what is there, and files of the same bytes, or a
 * result that may be another's, may be right.
 */
export const isFault = (
  finding: Finding,
): finding is Exclude<Finding, { readonly kind: 'unlisted' | 'same' | 'shared' }> =>
  finding.kind !== 'unlisted' && finding.kind !== 'same' && finding.kind !== 'shared';

/** What was looked at. */
export interface Looked {
  files: number;
  bytes: number;
  replies: number;
}
