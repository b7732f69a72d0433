import type { SameFilesFound } from '../results/same-files.ts';

/** A difference between a run directory and its state. */
export type Finding =
  | {
      /**
       * `missing`: no such file, or a link in its place; `changed`: other bytes than were written; `uncut`: a grid without frames, because
       * its file was missing or changed when it was to be cut.
       */
      readonly kind: 'missing' | 'changed' | 'uncut';
      /** Path relative to the run directory. */
      readonly file: string;
      readonly job: string;
      /** True if the file can be downloaded or cut again without a submission. */
      readonly isRepairable: boolean;
      /** True for a frame of the job's grid: nothing is downloaded for it. */
      readonly isFrame?: true;
    }
  | {
      /**
       * A finished job without files in the state: they were never downloaded, or a repair removed them and ended before it had downloaded
       * them again.
       */
      readonly kind: 'unsaved';
      readonly job: string;
      readonly isRepairable: boolean;
      /** True if the file is there and its frames are not. */
      readonly isFrame?: true;
    }
  | {
      /** A file that no job names: left from a job that was redone or removed, or put there by somebody. */
      readonly kind: 'unlisted';
      readonly file: string;
    }
  | {
      /** A kept reply whose line is missing or has other bytes. */
      readonly kind: 'reply';
      readonly file: string;
      readonly job: string;
    }
  | {
      /** Intact lines of kept replies at other positions than the state says: something before them was removed or inserted. */
      readonly kind: 'moved';
      readonly file: string;
      readonly replies: number;
    }
  | ({
      /** Files of different jobs with the same bytes. */
      readonly kind: 'same';
    } & SameFilesFound)
  | {
      /** A finished job whose task id was also given to another job, which is in doubt: the result may belong to the other. */
      readonly kind: 'shared';
      readonly job: string;
      readonly other: string;
    }
  | {
      /** A damaged manifest. `torn`: cut off in the middle of a row; `other`: not the rows of this state. */
      readonly kind: 'manifest';
      readonly file: string;
      readonly why: 'missing' | 'torn' | 'other';
    };

/**
 * Whether a finding makes the command end with 1. Unlisted files do no harm, and files with the same bytes or a shared task may be correct.
 */
export const isFault = (
  finding: Finding,
): finding is Exclude<Finding, { readonly kind: 'unlisted' | 'same' | 'shared' }> =>
  finding.kind !== 'unlisted' && finding.kind !== 'same' && finding.kind !== 'shared';

/** The number of checked items. */
export interface Looked {
  files: number;
  bytes: number;
  replies: number;
}
