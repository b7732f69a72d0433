import { createImageFiles, type KnownImageFiles, type SeenFile } from '../../artifacts/input/known-files.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { ImageFile, ImageFiles } from '../../plan/request/image-files.ts';
import type { StateReader } from '../../state/reader.ts';
import type { StateStore } from '../../state/store.ts';

type ImagePlaces = Pick<Pipeline, 'source'>;

type FileReader = Pick<StateReader, 'inputFiles'>;

/** Opens the images of the pipeline for a run: the state keeps the facts of each file that was read. */
export const imagesForRun = (
  { source }: ImagePlaces,
  filesRoot: string,
  state: Pick<StateStore, 'inputFile' | 'rememberInputFile'>,
): KnownImageFiles =>
  createImageFiles({
    folder: source.folder,
    filesRoot,
    seen: {
      recall: (path) => state.inputFile(path),
      remember: (path, { sha256, bytes, mtimeMs }) =>
        state.rememberInputFile({ path, sha256, bytes, mtimeMs }),
    },
  });

/** Opens the images of the pipeline for a plan, which changes nothing. @param state of the run directory, if there is one */
export const imagesForPlan = (
  { source }: ImagePlaces,
  filesRoot: string,
  state: FileReader | undefined,
): ImageFiles =>
  state === undefined
    ? createImageFiles({ folder: source.folder, filesRoot })
    : recalledImages({ folder: source.folder, filesRoot, preferSeen: false }, state);

/** Opens the images as the directory's last run saw them, even if the files have changed since. */
export const imagesOfDirectory = (folder: string, filesRoot: string, state: FileReader): ImageFiles =>
  recalledImages({ folder, filesRoot, preferSeen: true }, state);

/** Number of file facts kept in memory, unless one group of cells uses more. */
const maxRecalled = 20_000;

/** Placeholder for a file until the state was asked about it. */
const notRecalled: ImageFile = { error: { code: 'input.missing', message: 'It was not looked for yet.' } };

/** Opens images whose facts must first be read from the state. */
function recalledImages(
  place: { readonly folder: string; readonly filesRoot: string; readonly preferSeen: boolean },
  state: FileReader,
): ImageFiles {
  /** Facts by path. Undefined: no run saw the file. */
  const recalled = new Map<string, SeenFile | undefined>();
  const missed = new Set<string>();
  /** True once a request found all its files here: the recalled facts have been used. */
  let isServed = false;
  const files = createImageFiles({
    ...place,
    seen: { recall: (path) => recalled.get(path), remember: () => {} },
  });
  return {
    facts: (path) => {
      if (recalled.has(path)) return files.facts(path);
      missed.add(path);
      return notRecalled;
    },
    loadMissed: async () => {
      if (missed.size === 0) {
        isServed = true;
        return false;
      }
      if (isServed && recalled.size > maxRecalled) recalled.clear();
      isServed = false;
      const paths = [...missed];
      missed.clear();
      const seen = await state.inputFiles(paths);
      for (const path of paths) recalled.set(path, seen.get(path));
      return true;
    },
  };
}
