/** The first part of the name of an artifact: what kind of file it is. */
export const artifactRoots = ['images', 'video'] as const;

export type ArtifactRoot = (typeof artifactRoots)[number];

/**
 * Names of the artifacts of a job: never prompt text, never a cell's number, so that a file keeps its name when the matrix is
 * edited. Relative to the run directory, with `/`, without extension.
 */
export const imagePath = (key: string, output: number): string =>
  `images/${key.slice(0, 2)}/${key}-${output}`;

/** How the names of all images of a job begin, and of no other job. */
export const imagesOf = (key: string): string => `images/${key.slice(0, 2)}/${key}-`;

export const videoPath = (key: string, output: number): string => `video/${key.slice(0, 2)}/${key}-${output}`;

/** Keys are hashes; one that could lead out of the folder is not one of ours. */
export function checkName(key: string, output: number): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(key) || !Number.isSafeInteger(output) || output < 1) {
    throw new Error(`Internal error: ${JSON.stringify(key)}, output ${output}, cannot be a file name.`);
  }
}

/**
 * Whether a name is one that promptpress gives: a key below its first two characters, and the number of an output. Whatever else lies in the folders of artifacts was put there by somebody else.
 */
export const isOurArtifactName = (name: string): boolean => keyOfArtifact(name) !== undefined;

/** The key of the job that a name says. Undefined: promptpress gives no such name. */
export function keyOfArtifact(name: string): string | undefined {
  const [, folder = '', key = ''] =
    /^(?:images|video)\/([0-9a-f]{2})\/([0-9a-f]{8,64})-[1-9]\d*\.[a-z0-9]{2,5}$/.exec(name) ?? [];
  return key !== '' && key.startsWith(folder) ? key : undefined;
}

/** Whether a text can be the name of an artifact. The state may have come with a repository: it can name anything. */
export const isArtifactName = (name: string): boolean =>
  /^(?:images|video)\/[A-Za-z0-9][A-Za-z0-9._-]{0,1}\/[A-Za-z0-9][A-Za-z0-9._-]{0,250}$/.test(name);
