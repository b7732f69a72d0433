/** First parts of the names of artifacts: the kinds of files. */
export const artifactRoots = ['images', 'video'] as const;

export type ArtifactRoot = (typeof artifactRoots)[number];

/**
 * Returns the name of an image of a job, relative to the run directory, with `/`, without extension. It never contains prompt text or a
 * cell's number, so that a file keeps its name when the matrix is edited.
 */
export const imagePath = (key: string, output: number): string =>
  `images/${key.slice(0, 2)}/${key}-${output}`;

/** Returns the beginning of the names of all images of a job, and of no other job. */
export const imagesOf = (key: string): string => `images/${key.slice(0, 2)}/${key}-`;

export const videoPath = (key: string, output: number): string => `video/${key.slice(0, 2)}/${key}-${output}`;

/** Checks a name. Keys are hashes; one that could lead out of the folder is not ours. */
export function checkName(key: string, output: number): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(key) || !Number.isSafeInteger(output) || output < 1) {
    throw new Error(`Internal error: ${JSON.stringify(key)}, output ${output}, cannot be a file name.`);
  }
}

/** Whether promptpress gives such a name: a key below its first two characters, and the number of an output. */
export const isOurArtifactName = (name: string): boolean => keyOfArtifact(name) !== undefined;

/** Returns the job key in a name. Undefined: promptpress gives no such name. */
export function keyOfArtifact(name: string): string | undefined {
  const [, folder = '', key = ''] =
    /^(?:images|video)\/([0-9a-f]{2})\/([0-9a-f]{8,64})-[1-9]\d*\.[a-z0-9]{2,5}$/.exec(name) ?? [];
  return key !== '' && key.startsWith(folder) ? key : undefined;
}

/** Whether a text can be the name of an artifact. The state may have come with a repository, and can name anything. */
export const isArtifactName = (name: string): boolean =>
  /^(?:images|video)\/[A-Za-z0-9][A-Za-z0-9._-]{0,1}\/[A-Za-z0-9][A-Za-z0-9._-]{0,250}$/.test(name);
