import type { Io } from './output/io.ts';
import type { Redactor } from './output/redact.ts';
import type { ShowProgress } from './progress/show.ts';

/** What every command and every library call receives besides its options. */
export interface Context {
  readonly io: Io;
  /** Masks secrets in files and requests; the outputs of `io` are masked already. Code that learns a secret adds it here. */
  readonly redactor: Redactor;
  /** Shows the progress of a run; absent: progress is not shown. */
  readonly showProgress?: ShowProgress;
  /** Variables that came from a file (`--dotenv`); absent: no file was named. */
  readonly envFile?: EnvFile;
}

/** A file of variables that the user named. */
export interface EnvFile {
  /** Path as the user gave it. */
  readonly file: string;
  /** Names of the variables in the file that the environment itself does not have. */
  readonly names: ReadonlySet<string>;
}
