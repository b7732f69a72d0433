import { createImageFiles, type KnownImageFiles, type SeenFiles } from '../../artifacts/input/known-files.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { StateReader, StateStore } from '../../state/store.ts';

/** Where the images of a pipeline lie. */
type ImagePlaces = Pick<Pipeline, 'source'>;

/** The images of the pipeline for a run: the state keeps the facts of each file that was read. */
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

/** The same for a plan that changes nothing. @param state of the run directory, if there is one */
export const imagesForPlan = (
  { source }: ImagePlaces,
  filesRoot: string,
  state: StateReader | undefined,
): KnownImageFiles =>
  createImageFiles({
    folder: source.folder,
    filesRoot,
    ...(state === undefined ? {} : { seen: readingOnly(state) }),
  });

/** As the directory's last run has seen them, whatever has become of the files. */
export const imagesOfDirectory = (folder: string, filesRoot: string, state: StateReader): KnownImageFiles =>
  createImageFiles({ folder, filesRoot, seen: readingOnly(state), preferSeen: true });

const readingOnly = (state: StateReader): SeenFiles => ({
  recall: (path) => state.inputFile(path),
  remember: () => {},
});
