import type { Column } from '../columns.ts';
import type { WholeFile } from '../files.ts';
import type { Sample } from '../samples.ts';

/** How a data set format stores its rows. */
export interface Format {
  /** Which rows the format accepts. */
  readonly takes: 'everything' | 'images';
  /** Whether files are copied beside the table. If not, the format stores them itself. */
  readonly copiesFiles: boolean;
  /** Opens a writer for one part of a data set. The folder exists and is empty. */
  open(folder: string, columns: readonly Column[], setting: FormatSetting): Promise<PartWriter>;
}

export interface FormatSetting {
  /** Name and version of the program, for formats that record it: `promptpress 1.2.3`. */
  readonly madeBy: string;
  /** Whether each image gets a text file with its caption. */
  readonly captionFiles: boolean;
}

/** Writes one part of a data set. */
export interface PartWriter {
  /** Adds a row. @param file of the row, if the format stores files itself */
  add(sample: Sample, file: WholeFile | undefined): Promise<void>;
  /** Finishes the part; its files are durable when this returns. */
  finish(): Promise<void>;
  /** Closes open files without finishing the part; written bytes stay. */
  abandon(): Promise<void>;
}
