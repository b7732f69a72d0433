import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { csvText } from '../../../manifest/row-text.ts';
import type { Format } from './format.ts';
import { GatheredFile } from './gathered-file.ts';

/** Format: a folder of images with `metadata.csv`, as loaders of image folders expect. */
export const imagefolder: Format = {
  takes: 'images',
  copiesFiles: true,
  open: async (folder, columns, { captionFiles }) => {
    const table = await GatheredFile.create(join(folder, 'metadata.csv'));
    await table.write(csvText([columns.map(({ name }) => name)], false));
    return {
      add: async ({ fields, output, caption }) => {
        await table.write(csvText([fields], false));
        if (captionFiles && output?.file !== undefined)
          await writeFile(join(folder, output.file.replace(/\.[^./]+$/, '.txt')), `${caption}\n`);
      },
      finish: () => table.finish(),
      abandon: () => table.close(),
    };
  },
};
