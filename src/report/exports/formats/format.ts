import type { Column } from '../columns.ts';
import type { WholeFile } from '../files.ts';
import type { Sample } from '../samples.ts';

/** What a format of data sets does with its rows. */
export interface Format {
  /** What a row must be to be in it. */
  readonly takes: 'everything' | 'images';
  /** Files of rows are copied beside the table, under the names that it has. Otherwise the format holds them itself. */
  readonly copiesFiles: boolean;
  /** Opens a part of a data set: a folder that is there and empty. */
  open(folder: string, columns: readonly Column[], setting: FormatSetting): Promise<PartWriter>;
}

export interface FormatSetting {
  /** `promptpress 1.2.3`, where a format names its maker. */
  readonly madeBy: string;
  /** A text beside each image, with what it shows. */
  readonly captionFiles: boolean;
}

/** Writes one part of a data set. */
export interface PartWriter {
  /** @param file the row's own, where the format holds files itself */
  add(sample: Sample, file: WholeFile | undefined): Promise<void>;
  /** Durable when it returns. */
  finish(): Promise<void>;
  /** Closes what is open; what was written stays. */
  abandon(): Promise<void>;
}
