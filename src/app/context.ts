import type { Io } from './output/io.ts';
import type { Redactor } from './output/redact.ts';
import type { ShowProgress } from './progress/show.ts';

/** What whatever runs a pipeline is given beside what the user asks of it: a command by its process, the library by its caller. */
export interface Context {
  readonly io: Io;
  /** Takes secrets out of files and requests, as the outputs of `io` do by themselves; whoever learns of a secret adds it. */
  readonly redactor: Redactor;
  /** How the progress of a run is shown; absent: it is not. */
  readonly showProgress?: ShowProgress;
  /** The variables of the environment that came from a file (`--dotenv`); absent: none was named. */
  readonly envFile?: EnvFile;
  /** A run downloads the files that finished jobs of the whole plan lack, and begins nothing (`verify --repair`); absent: it does what its flags choose. */
  readonly repairs?: true;
}

/** A file of variables that the user named. */
export interface EnvFile {
  /** As the user named it. */
  readonly file: string;
  /** Names of its variables that the environment itself does not have. */
  readonly names: ReadonlySet<string>;
}
